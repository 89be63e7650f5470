"""Tiers are made from a pipeline's settings; what contradicts itself or lacks a key is refused in one sentence."""

import logging
import re
from collections.abc import Sequence
from typing import Any

import psutil
import pytest
from pipecat.frames.frames import Frame, LLMContextFrame
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.tests.utils import run_test

from pipelines import settings
from pipelines.tiers.models import TieredModels
from pipelines.tiers.table import Tiers
from voice.errors import ComponentError, ConfigurationError
from voice.frames import RequestsFrame


def tiers(pipeline: str, *overrides: str) -> Tiers:
    llm = settings.load(pipeline, overrides).llm
    assert isinstance(llm, Tiers)
    return llm


def test_each_tier_is_shown_with_its_model_and_what_is_odd_about_it() -> None:
    models = TieredModels(tiers("sim-fallback", "llm.large.fault=silent", "llm.fast.ttft_ms=100"))
    assert models.components == {
        "llm": "fallback, 450 ms to the first clause",
        "large": "sim:sonnet (field, chat, fault silent)",
        "fast": "sim:groq-fast (field, chat, first token after 100 ms)",
    }
    assert models.models == {"large": "sim:sonnet", "fast": "sim:groq-fast"}


def test_the_responder_is_no_language_model() -> None:
    models = settings.load("embedded").llm.language_models()
    assert models.components == {"llm": "responder (no language model)"}
    assert models.phrases == ()


def test_a_missing_key_names_its_variable_and_what_works_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    sentence = "llm.large: gpt-4.1 needs a key in the environment variable OPENAI_API_KEY, .* embedded and local work"
    with pytest.raises(ComponentError, match=sentence):
        TieredModels(tiers("openai"))


def test_a_missing_key_names_the_tier_that_works_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    needs_key = ["llm.large.provider=openai", "llm.large.model=gpt-4.1"]
    with pytest.raises(ComponentError, match=r"at OpenAI needs a key; say .* api_key_env = \"OPENAI_API_KEY\""):
        TieredModels(tiers("sim-fallback", *needs_key))
    with pytest.raises(ComponentError, match=r"OPENAI_API_KEY, which is not set; \[llm.fast\] works without it"):
        TieredModels(tiers("sim-fallback", *needs_key, "llm.large.api_key_env=OPENAI_API_KEY"))


@pytest.mark.parametrize(
    ("pipeline", "overrides", "sentence"),
    [
        ("sim-fallback", ["llm.large.model=gpt-9"], "llm.large: there is no simulated model gpt-9; choose one of"),
        ("sim-single", ["llm.policy=race"], r"The policy race needs two tiers: give \[llm.fast\], or choose single"),
        (
            "sim-fallback",
            ['llm.roles={large="large",fast="large"}'],
            '^The policy fallback needs two tiers, but "large" has both roles; [^.]+\\.$',
        ),
        ("sim-fallback", ["llm.bridge=false", 'llm.hold_phrases=["Wait."]'], "hold_phrases are never said with"),
        ("sim-fallback", ['llm.hold_phrases=["Yes, sure."]'], "claims something"),
        ("sim-fallback", ["llm.large.wire=messages", "llm.large.speed=flex"], 'messages has no speed "flex"; choose'),
        ("sim-fallback", ["llm.large.speed=standard"], 'the wire chat has no speed "standard"; choose one of auto'),
        ("sim-fallback", ["llm.large.effort=low"], 'an effort on wire = "messages" only'),
    ],
)
def test_settings_that_contradict_each_other_are_refused(pipeline: str, overrides: list[str], sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        TieredModels(tiers(pipeline, *overrides))


@pytest.mark.parametrize(
    ("policy", "names", "roles"),
    [
        ("fallback", "ab", 'roles = { large = "a", fast = "b" }'),
        ("race", ("large", "mine"), 'roles = { large = "large", fast = "mine" }'),
        ("adaptive", ("mine", "fast"), 'roles = { large = "mine", fast = "fast" }'),
        ("single", "ab", 'roles = { large = "a" }'),
    ],
)
def test_tiers_without_roles_are_refused_with_the_roles_to_add(policy: str, names: Sequence[str], roles: str) -> None:
    table = {"policy": policy, **{name: {"provider": "sim"} for name in names}}
    llm = settings.check({"name": "mine", "asr": {"engine": "sphinx"}, "llm": table}, source="mine").llm
    assert isinstance(llm, Tiers)
    with pytest.raises(ConfigurationError, match=re.escape(roles)):
        TieredModels(llm)


@pytest.mark.parametrize(
    ("override", "warning"),
    [
        ("llm.budget_ms=300", "an LLM budget of 300 ms is outside 400 ms to 500 ms"),
        ("llm.fast.p95_ms=4000", "the fast tier fast is slower than the large tier large"),
    ],
)
async def test_an_unusual_budget_and_a_slow_fast_tier_are_warned_about(
    override: str, warning: str, caplog: pytest.LogCaptureFixture
) -> None:
    models = TieredModels(tiers("sim-fallback", override))
    with caplog.at_level(logging.WARNING):
        await models.start()
    await models.close()
    assert warning in caplog.text


async def test_the_simulator_is_a_process_that_ends_with_its_models() -> None:
    models = TieredModels(tiers("sim-fallback"))
    await models.start()
    (process,) = [child for child in psutil.Process().children() if "simulate" in child.cmdline()]
    await models.close()
    assert not process.is_running()


async def test_claude_at_the_fast_speed_answers_in_a_call_and_the_record_says_what_was_served() -> None:
    fast = ("llm.large.wire=messages", "llm.large.model=opus", "llm.large.speed=fast", "llm.large.ttft_ms=50")
    models = TieredModels(tiers("sim-single", *fast, "llm.budget_ms=2000"))
    assert models.components["large"] == "sim:opus (field, messages, fast, first token after 50 ms)"
    await models.start()
    try:
        (service,) = models.services(prompt="Be brief.", tools=())
        records: list[RequestsFrame] = []

        @service.event_handler("on_before_push_frame")
        async def collect(_: object, frame: Frame) -> None:
            if isinstance(frame, RequestsFrame) and frame.final:
                records.append(frame)

        context: Any = [{"role": "user", "content": "what is seven times eight"}]
        await run_test(service, frames_to_send=[LLMContextFrame(LLMContext(context))], start_timeout=30)
    finally:
        await models.close()
    ((attempt,),) = [frame.attempts for frame in records]
    assert (attempt.outcome, attempt.speed, attempt.served, attempt.slowed) == ("spoken", "fast", "fast", None)


def test_claude_needs_a_key_and_names_where_to_put_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    claude = 'llm.large={provider="anthropic",model="claude-opus-4-8",speed="fast"}'
    with pytest.raises(ComponentError, match=r'at Anthropic needs a key; say .* api_key_env = "ANTHROPIC_API_KEY"'):
        TieredModels(tiers("sim-fallback", claude))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    models = TieredModels(tiers("sim-fallback", claude, "llm.large.api_key_env=ANTHROPIC_API_KEY"))
    assert models.components["large"] == "claude-opus-4-8 at Anthropic (messages, fast)"
    with pytest.raises(ConfigurationError, match="llm.large.speed = 'warp' is not allowed.*'standard' or 'fast'"):
        tiers("sim-fallback", claude, "llm.large.speed=warp")
