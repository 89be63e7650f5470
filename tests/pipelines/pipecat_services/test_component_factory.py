"""Every call gets a fresh component; an instance serves one call; what cannot be made is refused in one sentence."""

import gc
from pathlib import Path
from typing import Any

import pytest
from pipecat.processors.filters.identity_filter import IdentityFilter
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.services.llm_service import LLMService
from pipecat.services.openai.llm import OpenAILLMService

from pipelines import Agent
from pipelines.pipecat_services.component_factory import ComponentFactory, load
from voice.errors import ConfigurationError
from voice.server.closing import shortened

OPENAI = "pipecat.services.openai.llm.OpenAILLMService"


def test_each_call_gets_an_instance_of_its_own() -> None:
    factory = ComponentFactory(IdentityFilter, where="processors")
    factory.prepare()
    first, second = factory.take(), factory.take()
    assert isinstance(first, IdentityFilter)
    assert first is not second


def test_an_instance_serves_a_single_call() -> None:
    factory = ComponentFactory(IdentityFilter(), where="processors")
    factory.prepare()
    taken = factory.take()
    sentence = "processors: this IdentityFilter has served a call, .* only one; give its class or a factory"
    with pytest.raises(ConfigurationError, match=sentence) as refused:
        factory.take()
    assert shortened(str(refused.value)) == str(refused.value), "the advice reaches the caller"
    del taken


def test_a_function_that_always_gives_the_same_instance_is_found_out() -> None:
    only = IdentityFilter()
    factory = ComponentFactory(lambda: only, where="stt")
    factory.take()
    with pytest.raises(ConfigurationError, match="has served a call"):
        factory.take()


def test_instances_of_past_calls_are_not_kept() -> None:
    factory = ComponentFactory(IdentityFilter, where="processors")
    factory.take()
    gc.collect()
    assert len(factory._served) == 0


def test_the_name_is_the_class_and_its_model() -> None:
    factory = ComponentFactory(OPENAI, where="llm", parameters={"api_key": "none", "settings": {"model": "sim:echo"}})
    assert factory.name == "pipecat:OpenAILLMService"
    factory.prepare()
    assert factory.name == "pipecat:OpenAILLMService (sim:echo)"


def test_a_string_becomes_a_path_where_the_class_wants_one() -> None:
    class Wanting(FrameProcessor):
        def __init__(self, folder: Path | None = None, label: str = "") -> None:
            super().__init__()
            self.given = (folder, label)

    made = ComponentFactory(Wanting, where="tts", parameters={"folder": "/models", "label": "x"}).take()
    assert isinstance(made, Wanting)
    assert made.given == (Path("/models"), "x")


@pytest.mark.parametrize(
    ("part", "sentence"),
    [
        ("nowhere.Service", "asr.service: nowhere.Service cannot be imported: ModuleNotFoundError: No module named"),
        (
            "pipecat.services.openai.llm.Nothing",
            "Nothing cannot be imported: AttributeError: module .* has no attribute",
        ),
        ("Service", 'asr.service: "Service" is not a class; write it as "package.module.Class".'),
        ("pathlib.Path", "asr.service: pathlib.Path makes a PosixPath, not a LLMService of pipecat."),
        (IdentityFilter, "asr.service: .*IdentityFilter makes a IdentityFilter, not a LLMService of pipecat."),
        (lambda: {}["voice"], "asr.service: .* cannot be made: KeyError: 'voice'."),
        (lambda: 1 / 0, "asr.service: .* cannot be made: ZeroDivisionError: division by zero."),
    ],
)
def test_what_cannot_be_made_is_refused(part: str, sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        ComponentFactory(part, where="asr.service", kind=LLMService).prepare()


def test_only_the_first_line_of_an_error_is_shown() -> None:
    def failing() -> FrameProcessor:
        raise ValueError("no voice:\nfield required")

    with pytest.raises(ConfigurationError, match=r"failing cannot be made: ValueError: no voice\.$"):
        ComponentFactory(failing, where="asr.service").prepare()


def test_a_module_that_fails_at_import_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "boom.py").write_text('raise ValueError("no licence\\nsee the manual")')
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigurationError, match=r"^asr: boom.X cannot be imported: ValueError: no licence\.$"):
        load("boom.X", where="asr")


def test_a_component_without_pipecats_own_constructor_is_refused() -> None:
    class Processor(FrameProcessor):
        def __init__(self) -> None:
            self.given = 1

    class Model(LLMService[Any]):
        def __init__(self) -> None:
            FrameProcessor.__init__(self)

    for part in (Processor, Model):
        with pytest.raises(ConfigurationError, match=r"cannot be used: its __init__ does not call super\(\)"):
            ComponentFactory(part, where="asr.service").prepare()


def test_components_take_the_place_of_the_pipelines_own() -> None:
    agent = Agent(pipeline="embedded", stt=IdentityFilter, large=OpenAILLMService, fast=OpenAILLMService)
    resolved = agent.settings.model_dump()
    assert resolved["asr"]["service"] == "pipecat.processors.filters.identity_filter.IdentityFilter"
    assert (resolved["llm"]["policy"], resolved["llm"]["large"]["service"]) == ("adaptive", OPENAI)
    assert resolved["tts"]["engine"] == "piper"
    alone = Agent(pipeline="embedded", large=OpenAILLMService).settings.model_dump()["llm"]
    assert (alone["policy"], "fast" in alone) == ("single", False)
    roles = ["llm.roles.large=mine", 'llm.mine={provider="sim"}']
    assert "mine" in Agent(pipeline="sim-single", overrides=roles, fast=OpenAILLMService).settings.model_dump()["llm"]


def test_what_is_no_component_and_no_place_is_refused_when_the_agent_is_made() -> None:
    with pytest.raises(ConfigurationError, match=r"asr.service = 3 is not allowed: .* a class such as"):
        Agent(pipeline="embedded", stt=3)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="processors: after_all is no place; use before_llm or before_tts"):
        Agent(pipeline="embedded", processors={"after_all": [IdentityFilter]})  # type: ignore[dict-item]
