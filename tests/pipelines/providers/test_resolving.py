"""A pipeline that names a tier: what the name stands for, and the sentence for a name that stands for nothing."""

from typing import Any

import pytest

from pipelines import settings
from pipelines.providers.anthropic import AnthropicTier
from pipelines.providers.openai import OpenAITier
from pipelines.providers.provider import TierTable
from pipelines.providers.resolving import notice_of
from pipelines.providers.sim import SimTier
from pipelines.tiers.table import Tiers
from voice.errors import ConfigurationError


def large(**table: Any) -> TierTable:
    content = {"name": "mine", "asr": {"engine": "sphinx"}, "llm": {"large": table}}
    llm = settings.check(content, source="mine.toml").llm
    assert isinstance(llm, Tiers)
    return llm.tiers["large"]


def test_a_name_stands_for_the_settings_of_its_provider() -> None:
    opus = large(tier="claude-opus-4-6@fast", max_tokens=90)
    assert isinstance(opus, AnthropicTier)
    assert (opus.model, opus.speed, opus.api_key_env) == ("claude-opus-4-6", "fast", "ANTHROPIC_API_KEY")
    assert (opus.max_tokens, opus.p95_ms) == (90, 2447), "8 tokens after the first one, at 170 a second"
    assert opus.billing
    standard, fast = opus.billing.at(None), opus.billing.at("fast")
    assert standard
    assert fast
    assert (standard.output, fast.output) == (25, 150), "a request is billed at the speed that was served"
    groq = large(tier="groq-gpt-oss-120b")
    assert isinstance(groq, OpenAITier)
    assert (groq.model, groq.base_url) == ("openai/gpt-oss-120b", "https://api.groq.com/openai/v1")


@pytest.mark.parametrize("name", ["sim:claude-opus-4-6@fast", "sim:opus-fast"])
def test_a_simulated_twin_is_the_model_asked_for_the_speed(name: str) -> None:
    twin = large(tier=name)
    assert isinstance(twin, SimTier)
    assert (twin.model, twin.speed, twin.wire, twin.label) == ("opus", "fast", "messages", "sim:opus")
    assert twin.billing == large(tier="claude-opus-4-6@fast").billing
    assert twin.notice is None, "a model that was withdrawn can still be simulated"


def test_a_simulated_model_costs_what_the_real_one_does_unless_a_price_is_set() -> None:
    sonnet, fast = large(provider="sim", model="sonnet").billing, large(provider="sim", model="opus-fast").billing
    assert sonnet
    assert fast
    assert (sonnet.input, sonnet.output, fast.output) == (3, 15, 150)
    own = large(provider="sim", model="sonnet?ttft_ms=100", price={"input": 1, "output": 2}).billing
    assert own
    assert (own.input, own.output) == (1, 2)
    assert large(provider="sim", model="steady").billing is None


def test_what_the_pipeline_says_itself_comes_first() -> None:
    tier = large(tier="claude-haiku-4-5", api_key_env="MINE", price={"input": 0, "output": 0}, p95_ms=700)
    assert isinstance(tier, AnthropicTier)
    assert tier.price
    assert (tier.api_key_env, tier.price.input, tier.p95_ms) == ("MINE", 0, 700)


def test_a_tier_can_take_the_place_of_a_presets_model() -> None:
    llm = settings.load("sim-single", ["llm.large.tier=sim:claude-haiku-4-5"]).llm
    assert isinstance(llm, Tiers)
    assert llm.tiers["large"].label == "sim:haiku"
    again = settings.check({"name": "x", "asr": {"engine": "sphinx"}, "llm": llm.model_dump()}, source="x")
    assert again.llm == llm, "what is resolved can be read again"


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (
            {"tier": "claude-opus-46"},
            'llm.large.tier = "claude-opus-46" is not in the catalogue; did you mean "claude-',
        ),
        ({"tier": "sim:sonet"}, 'llm.large.tier = "sim:sonet" is not in the catalogue; did you mean "sim:sonnet"?'),
        ({"tier": "xyz"}, 'llm.large.tier = "xyz" is not in the catalogue; `voice tiers` lists the tiers.'),
        ({"tier": "responder"}, 'llm.large.tier = "responder" is no language model; write'),
        ({"tier": 5}, "llm.large.tier must be the name of a tier, not 5."),
        (
            {"tier": "sim:haiku", "provider": "sim", "model": "opus"},
            'llm.large has both tier = "sim:haiku" and model = "opus"; leave one of them out',
        ),
    ],
)
def test_a_mistake_gets_one_sentence(table: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        large(**table)
    assert str(refused.value).startswith(f"mine.toml: {sentence}")


def test_a_withdrawn_tier_says_what_follows() -> None:
    told = notice_of("claude-opus-4-6@fast")
    assert told
    assert told.startswith(
        "claude-opus-4-6@fast was withdrawn (about 30 days after the launch of Opus 4.8): requests are"
    )
    assert told.endswith("; take claude-opus-5-5@fast instead.")
    assert notice_of("gpt-5.3-codex-spark")
    assert notice_of("claude-opus-5-5") is None
