"""`voice tiers`: what it prints, and whether a tier can run here."""

import json
from datetime import date
from pathlib import Path

import pytest

from pipelines import settings
from pipelines.catalog.readiness import readiness
from pipelines.cli import main
from pipelines.tiers.table import Tiers
from voice.llm.catalog.catalog import load_catalog
from voice.llm.catalog.tier import CatalogTier

TODAY = date(2026, 11, 23)
TIERS = load_catalog().tiers


def state(tier: CatalogTier, *, today: date = TODAY, model: str | None = None, **environment: str) -> tuple[bool, str]:
    found = readiness(tier, today=today, environment=environment, first_model=lambda url: model)
    return found.ready, found.text


def test_a_tier_can_run_with_its_key_or_its_server() -> None:
    assert state(TIERS["claude-haiku-4-5"]) == (False, "set ANTHROPIC_API_KEY")
    assert state(TIERS["claude-haiku-4-5"], ANTHROPIC_API_KEY="k") == (True, "ANTHROPIC_API_KEY is set")
    assert state(TIERS["local-server"]) == (False, "no server lists models at http://127.0.0.1:11434/v1")
    assert state(TIERS["local-server"], model="m") == (True, "http://127.0.0.1:11434/v1 answers and has m")
    assert state(TIERS["responder"])[0]


def test_what_is_withdrawn_or_closed_cannot_run_and_says_what_follows() -> None:
    assert not state(TIERS["claude-opus-4-6@fast"], ANTHROPIC_API_KEY="k")[0]
    ready, text = state(TIERS["gpt-5.3-codex-spark"], OPENAI_API_KEY="k")
    assert not ready
    assert text.endswith("take gpt-5.3-codex instead")
    ahead = TIERS["claude-opus-4-8@fast"]
    ready, text = state(ahead, ANTHROPIC_API_KEY="k")
    assert ready
    assert "will be withdrawn (2026-11-30)" in text
    assert not state(ahead, today=date(2026, 12, 1), ANTHROPIC_API_KEY="k")[0]


def test_the_table_fits_and_names_each_tier(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    assert main(["tiers"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    rows = {line.split()[0]: line.split() for line in lines if line and not line.startswith(" ")}
    assert rows.keys() >= TIERS.keys()
    assert rows["claude-sonnet-4-6"] == ["claude-sonnet-4-6", "90", "850", "4126", "3/15", "100.0", "yes"]
    assert rows["claude-opus-4-6@fast"][1:5] == ["170", "~1000", "~2400", "30/150"]
    assert rows["gpt-5.3-codex-spark"][1:] == ["1000", "~250", "~500", "-", "58.4*", "no"]


def test_v_prints_the_sources(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-v", "tiers"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert "    price: github-docs; fast 30/150: Anthropic, February 2026" in lines


def test_the_json_has_every_figure_with_a_users_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = tmp_path / "mine.toml"
    own.write_text('[tiers.claude-opus-4-6]\nprice = { input = 1, output = 2, speeds = { fast = 3 }, source = "me" }\n')
    assert main(["tiers", "--json", "--catalog", str(own)]) == 0
    lines = {line["tier"]["name"]: line for line in json.loads(capsys.readouterr().out)["tiers"]}
    assert (lines["claude-opus-4-6@fast"]["usd_input"], lines["claude-opus-4-6@fast"]["usd_output"]) == (3, 6)
    assert lines["claude-opus-4-6@fast"]["ready"] is False


def test_a_mistake_in_a_users_catalogue_gets_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = tmp_path / "mine.toml"
    own.write_text('[tiers.claude-opus-5]\nprice = { input = -1, output = 2, source = "me" }\n')
    assert main(["tiers", "--catalog", str(own)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"voice: {own}: tiers.claude-opus-5.price.input is not allowed")


@pytest.mark.parametrize(
    ("name", "models"),
    [
        ("anthropic", {"large": "claude-opus-5-5", "fast": "claude-haiku-4-5"}),
        ("cerebras", {"large": "gpt-4.1", "fast": "gpt-oss-120b"}),
        ("groq", {"large": "openai/gpt-oss-120b"}),
    ],
)
def test_the_ready_pipelines_name_tiers_that_are_offered(name: str, models: dict[str, str]) -> None:
    llm = settings.load(name).llm
    assert isinstance(llm, Tiers)
    assert {role: tier.label for role, tier in llm.tiers.items()} == models
    assert [tier.notice for tier in llm.tiers.values()] == [None] * len(models)
    assert all(tier.billing for tier in llm.tiers.values())
