"""A pipeline file is checked before anything runs; each error names file, key and what is allowed."""

import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from pipelines import settings
from pipelines.engines.whisper import Whisper
from pipelines.lab.simulator.timetable import Fault as SimulatorFault
from pipelines.providers.sim import Fault
from pipelines.tiers.table import Tiers
from voice.errors import ConfigurationError

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", settings.names())
def test_every_shipped_pipeline_is_valid_and_says_what_it_is(name: str) -> None:
    assert settings.load(name).description


def test_another_engine_drops_the_settings_of_the_old_one_but_not_those_given_with_it() -> None:
    sphinx = settings.load("local", ["asr.domain_weight=0.3", "asr.engine=sphinx"]).asr
    assert sphinx.model_dump() == {"engine": "sphinx", "domain_weight": 0.3}
    same = settings.load("local", ["asr.engine=whisper"]).asr
    assert same == settings.load("local").asr


def test_single_settings_are_overridden_with_their_types() -> None:
    found = settings.load("embedded", ["turns.fallback_ms=600", "turns.detector=silence", "vad.min_volume=0.2"])
    assert (found.turns.fallback_ms, found.turns.detector, found.vad.min_volume) == (600, "silence", 0.2)


BAD = [
    (
        "nowhere",
        [],
        r'no pipeline "nowhere"; use one of auto, anthropic, cerebras, embedded, german, groq, '
        "local, openai, sim-adaptive, sim-best-of, sim-draft-verify, sim-fallback, sim-relay, "
        "sim-single",
    ),
    (
        "embedded",
        ["turns.fallback=3"],
        r"embedded.toml: turns.fallback is not a setting; known here: detector",
    ),
    ("embedded", ["turns.fallback_ms=30"], r"turns.fallback_ms = 30 .* greater than or equal to 100"),
    ("embedded", ["turns.risk=0"], r"turns.risk = 0 .* greater than 0"),
    ("embedded", ["turns.detector=psychic"], r"turns.detector = 'psychic' .* 'smart-turn' or 'silence'"),
    ("embedded", ["asr.engine=ears"], r"asr.engine must be one of sphinx, whisper"),
    ("embedded", ["asr.model=x"], r"asr.model is not a setting; known here: engine, domain_weight"),
    (
        "embedded",
        ["llm.provider=openai"],
        r'llm.provider must be "responder"; a language model is a tier: write \[llm.large',
    ),
    ("embedded", ["llm.policy=race"], r"llm.policy is not a setting; known here: provider"),
    (
        "local",
        ["llm.policy=psychic"],
        r"llm.policy = 'psychic' .* 'single', 'hedged', .* or 'draft_verify'",
    ),
    ("local", ["llm.budget_ms=50"], r"llm.budget_ms = 50 .* greater than or equal to 100"),
    ("local", ["llm.budget_ms=9000"], r"llm.budget_ms = 9000 .* less than or equal to 5000"),
    (
        "local",
        ["llm.medium.model=x"],
        r"llm.medium is not a setting; known here: policy, best_of, budget_ms, .*large, fast",
    ),
    (
        "sim-fallback",
        ["llm.large.price={input=-5,output=25}"],
        r"llm.large.price.input = -5 .* greater than or equal to 0",
    ),
    ("sim-fallback", ["llm.large.price={input=5}"], r"llm.large.price.output is missing"),
    ("local", ["llm.fast.model=x"], r"llm.fast.provider must be one of openai, anthropic, sim"),
    ("local", ["llm.fast.provider=psychic"], r"llm.fast.provider must be one of openai, anthropic, sim"),
    ("local", ["llm.fast.provider=openai"], r"llm.fast.model is missing"),
    ("local", ["llm.large.haste=9"], r"llm.large.haste is not a setting; known here: .*model, base_url, api_key_env"),
    ("sim-single", ["llm.large.fault=hiccup"], r"llm.large.fault = 'hiccup' .* 'silent', 'keepalive', .* 'cut-socket'"),
    ("sim-single", ["llm.simulator.preset=x"], r"llm.simulator.preset = 'x' .* 'field' or 'optimistic'"),
    ("sim-single", ["llm.simulator.sed=x"], r"llm.simulator.sed is not a setting; known here: preset, seed"),
    (
        "local",
        ['llm.asr={provider="sim"}'],
        r"local.toml: llm.asr: a tier needs another name; reports use this one otherwise",
    ),
    ("local", ["llm.roles.fast=groq"], r'llm.roles.fast = "groq" names no tier; there is large'),
    ("local", ["llm.mine.provider=ours"], r"llm.mine.provider must be one of openai, anthropic, sim"),
    ("local", ['llm.mine={provider="sim",haste=1}'], r"llm.mine.haste is not a setting; known here: .*fault, ttft_ms"),
    ("local", ["tts.engine=bell"], r"tts.engine must be one of piper"),
    ("embedded", ["asr=3"], r"embedded.toml: asr must be a table, not 3\.$"),
    ("embedded", ["llm=3"], r"embedded.toml: llm must be a table, not 3\.$"),
    ("local", ["llm.large='m'"], r"local.toml: llm.large must be a table, not 'm'\.$"),
    ("embedded", ["fast=yes"], r"fast is not a setting"),
    ("embedded", ["fast"], r"--set takes key=value"),
    ("embedded", ["vad.start_ms.x=3"], r'"start_ms" is a value, not a table'),
]


@pytest.mark.parametrize(("pipeline", "overrides", "sentence"), BAD)
def test_a_wrong_setting_gets_one_clear_sentence(pipeline: str, overrides: list[str], sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence) as caught:
        settings.load(pipeline, overrides)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("pipeline", "override", "suggestion"),
    [
        ("embeded", "turns.adaptive=true", "embedded"),
        ("embedded", "turns.fallback=600", "fallback_ms"),
        ("embedded", "turn.fallback_ms=600", "turns"),
        ("embedded", "turns.detector=silense", "silence"),
        ("embedded", "asr.engine=spinx", "sphinx"),
        ("local", "llm.policy=hedge", "hedged"),
        ("local", "llm.larg.model=x", "large"),
        ("local", "llm.fast.provider=opnai", "openai"),
        ("local", "llm.large.base_ur=x", "base_url"),
        ("sim-single", "llm.large.fault=silnt", "silent"),
    ],
)
def test_a_mistyped_name_gets_a_suggestion(pipeline: str, override: str, suggestion: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        settings.load(pipeline, [override])
    assert str(caught.value).endswith(f'; did you mean "{suggestion}"?')


def test_a_file_that_is_not_toml_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("[asr\n")
    with pytest.raises(ConfigurationError, match="mine.toml cannot be read as a pipeline file"):
        settings.load(str(path))


def test_a_file_without_a_stage_is_told_what_to_add() -> None:
    with pytest.raises(ConfigurationError) as caught:
        settings.check({"name": "mine"}, source="mine.toml")
    assert str(caught.value) == (
        'mine.toml: asr is missing; add a table such as [asr] with engine = "sphinx". '
        'mine.toml: llm is missing; add a table such as [llm] with provider = "responder".'
    )


def test_a_pipeline_of_ones_own_is_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('[asr]\nengine = "sphinx"\n[llm]\nprovider = "responder"\n')
    assert settings.load(str(path)).name == "mine"


def test_faults_are_those_of_the_simulator() -> None:
    assert list(get_args(Fault)) == list(SimulatorFault)


def test_whisper_encodes_whole_windows_and_streams_unless_told_otherwise() -> None:
    asr = settings.load("local").asr
    assert isinstance(asr, Whisper)
    assert (asr.context, asr.streaming) == ("auto", True)
    told = settings.load("local", ["asr.context=auto", "asr.streaming=false"]).asr
    assert isinstance(told, Whisper)
    assert (told.context, told.streaming) == ("auto", False)
    with pytest.raises(ConfigurationError, match=r"asr.context = 'short' .* 'measured', 'full' or 'auto'"):
        settings.load("local", ["asr.context=short"])


def test_a_tier_has_any_name_and_roles_say_which_ones_a_policy_asks() -> None:
    small, slow = 'llm.groq={provider="sim",model="groq-fast"}', 'llm.opus={provider="sim"}'
    llm = settings.load("sim-single", [small, slow, 'llm.roles={large="opus",fast="groq"}', "llm.policy=adaptive"]).llm
    assert isinstance(llm, Tiers)
    assert list(llm.tiers) == ["opus", "groq", "large"], "those with a role come first"
    assert (llm.large, llm.fast) == ("opus", "groq")


def test_tiers_have_the_roles_that_they_are_named_after_and_a_lone_one_is_the_large_one() -> None:
    def roles(*names: str) -> tuple[str | None, str | None]:
        tier = {"provider": "sim"}
        llm = settings.check(
            {"name": "mine", "asr": {"engine": "sphinx"}, "llm": dict.fromkeys(names, tier)}, source="mine"
        ).llm
        assert isinstance(llm, Tiers)
        return llm.large, llm.fast

    assert roles("large", "fast") == ("large", "fast")
    assert roles("fast") == (None, "fast")
    assert roles("mine") == ("mine", None)
    assert roles("mine", "other") == (None, None)


def test_a_pipeline_as_resolved_is_a_pipeline_file_again() -> None:
    resolved = settings.load("sim-adaptive", ['llm.opus={provider="sim"}'])
    assert settings.check(resolved.model_dump(), source="again") == resolved


def test_settings_are_read_without_loading_any_engine() -> None:
    program = "import sys, pipelines.settings; print({'pipecat', 'numpy', 'onnxruntime', 'openai'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_a_lone_tier_is_asked_alone_unless_a_policy_is_set(tmp_path: Path) -> None:
    stages = '[asr]\nengine = "sphinx"\n[tts]\nengine = "piper"\n'
    tier = '[llm.{}]\nprovider = "sim"\nmodel = "sonnet"\n'
    file = tmp_path / "mine.toml"
    for tiers, policy in ((("large",), "single"), (("other",), "single"), (("large", "fast"), "adaptive")):
        file.write_text(stages + "".join(tier.format(name) for name in tiers))
        assert settings.load(str(file)).model_dump()["llm"]["policy"] == policy
