"""The catalogue: what it holds, how a user's file changes it, and the sentence for each mistake in one."""

import re
from datetime import date
from pathlib import Path

import pytest

from pipelines.lab.simulator.profiles import PRESETS, load_profiles
from voice.errors import ConfigurationError
from voice.llm.catalog.catalog import load_catalog, read_catalog
from voice.llm.catalog.tier import Withdrawn

OURS = load_catalog().tiers


def mistake(text: str) -> str:
    with pytest.raises(ConfigurationError) as refused:
        read_catalog(text, source="mine.toml")
    sentence = str(refused.value)
    assert sentence.startswith("mine.toml")
    assert "\n" not in sentence
    return sentence


def test_a_speed_is_the_same_model_at_a_multiple_of_the_price_with_the_same_first_token() -> None:
    standard, fast = OURS["claude-opus-4-6"], OURS["claude-opus-4-6@fast"]
    assert (fast.model, fast.speed, fast.field) == (standard.model, "fast", standard.field)
    assert standard.own_price
    assert fast.own_price
    assert (standard.own_price.input, standard.own_price.output) == (5, 25)
    assert (fast.own_price.input, fast.own_price.output) == (30, 150)
    assert fast.rate
    assert fast.rate.tokens_per_second == 170
    assert (standard.withdrawn, standard.fallback) == (None, None)
    assert fast.withdrawn
    assert fast.withdrawn.successor == "claude-opus-5-5@fast"


def test_each_language_model_has_a_simulated_twin_with_its_figures() -> None:
    for preset in PRESETS:
        profiles = load_profiles(preset)
        for tier in OURS.values():
            if tier.wire == "rules":
                continue
            first = tier.first_token(preset)
            assert first
            assert tier.rate
            for name in filter(None, (tier.name, tier.sim)):
                twin = profiles[name]
                assert (twin.p50, twin.p95) == (first.p50_ms / 1000, first.p95_ms / 1000)
                assert twin.tokens_per_s == tier.rate.tokens_per_second


def test_a_users_file_extends_and_overrides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert load_catalog().tiers == OURS, "a user need not have one"
    file = tmp_path / "turnaround" / "catalog.toml"
    file.parent.mkdir()
    file.write_text(
        '[tiers.claude-haiku-4-5]\nrate = { tokens_per_second = 99, source = "measured" }\n'
        '[tiers.mine]\nprovider = "me"\nmodel = "m"\nwire = "chat"\nfallback = "claude-haiku-4-5"\n'
        '[tiers."mine@fast"]\nsame_as = "mine"\nspeed = "fast"\n'
    )
    tiers = load_catalog().tiers
    haiku = tiers["claude-haiku-4-5"]
    assert haiku.rate
    assert (haiku.rate.tokens_per_second, haiku.price) == (99, OURS["claude-haiku-4-5"].price)
    assert (tiers["mine@fast"].model, tiers["mine@fast"].speed, tiers["mine@fast"].rate) == ("m", "fast", None)
    assert load_profiles("field")["haiku"].tokens_per_s == 99
    assert "mine" not in load_profiles("field"), "nothing is simulated without figures"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('[tiers.x]\nprise = 1\nprovider="p"\nmodel="m"\nwire="chat"', r'tiers.x.prise is not a key.*mean "price"\?'),
        ("[tier.x]\n", r"tier is not known here; a tier is a table \[tiers.NAME\]"),
        ('[tiers.x]\nprovider="p"\nmodel="m"', "tiers.x is not allowed: .*wire"),
        ('[tiers.x]\nprovider="p"\nmodel="m"\nwire="telex"', r"tiers.x.wire is not allowed: .*telex"),
        (
            '[tiers.claude-opus-5]\nprice = { input = -5, output = 25, source = "me" }',
            r"tiers.claude-opus-5.price.input is not allowed: .*>= 0",
        ),
        (
            "[tiers.claude-opus-5]\nprice = { input = 5, output = 25 }",
            "tiers.claude-opus-5.price is not allowed: .*source",
        ),
        (
            '[tiers.claude-opus-5]\nfield = { p50_ms = 9, p95_ms = 8, max_ms = 10, source = "me" }',
            "tiers.claude-opus-5.field is not allowed: .*must not fall",
        ),
        ("[tiers.x]\n[tiers.x]\n", "two tiers are named x; rename or remove one"),
        ('[tiers.claude-opus-5]\nsim = "sonnet"', "two tiers are named sonnet; give tiers.*"),
        ('[tiers.claude-opus-5]\nsim = "gpt-4.1"', r"two tiers are named gpt-4.1; give tiers.claude-opus-5"),
        (
            '[tiers.claude-opus-5]\nfallback = "claude-opus-4-8"\n[tiers.claude-opus-4-8]\nfallback = "claude-opus-5"',
            "fallback goes in a circle: claude-opus-5 -> claude-opus-4-8 -> claude-opus-5",
        ),
        ('[tiers.claude-opus-5]\nsame_as = "claude-opus-5"', "same_as goes in a circle"),
        ('[tiers.claude-opus-5]\nfallback = "claude-opus5"', r'"claude-opus5" names no tier; did you mean'),
        ('[tiers.x]\nsame_as = "zzz"', 'same_as = "zzz" names no tier; `voice tiers` lists them'),
        ('[tiers.claude-opus-5]\nwithdrawn = { since = "2027", successor = "zzz" }', 'successor = "zzz" names no tier'),
        ("[tiers.a.b]\nx = 1", "tiers.a.b is not a key"),
        ('[tiers."a b"]\n', '"a b" cannot name a tier'),
        ("[tiers\n", "is not TOML"),
    ],
)
def test_a_mistake_gets_one_sentence(text: str, sentence: str) -> None:
    assert re.search(sentence, mistake(text))


def test_a_file_that_was_named_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"There is no catalogue .*none.toml"):
        load_catalog(tmp_path / "none.toml")


def test_a_withdrawal_may_lie_ahead() -> None:
    withdrawn = Withdrawn(since="2026-11-30")
    assert not withdrawn.is_over(date(2026, 11, 29))
    assert withdrawn.is_over(date(2026, 11, 30))
    assert Withdrawn(since="summer 2026").is_over(date(2026, 1, 1))
