"""`latency probe` with the real SDKs against the simulator, over all three wires."""

import asyncio
import io
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pipelines.lab.probing.command import main
from pipelines.lab.simulator.app import Endpoint, serving
from pipelines.lab.simulator.simulator import Simulator
from voice.llm.catalog.catalog import load_catalog

CATALOG = """
[tiers.c]
provider = "house"
model = "steady?ttft_ms=60&tokens_per_s=400"
wire = "chat"
base_url = "{base}"
key_env = "HOUSE_KEY"
price = {{ input = 5, output = 25, source = "test" }}
[tiers.r]
same_as = "c"
wire = "responses"
[tiers.m]
same_as = "c"
wire = "messages"
base_url = "{root}"
price = {{ input = 5, output = 25, speeds = {{ fast = 6 }}, source = "test" }}
[tiers."m@fast"]
same_as = "m"
speed = "fast"
[tiers.broken]
same_as = "c"
model = "steady?fault=500"
[tiers."slowed@fast"]
same_as = "m@fast"
model = "steady?ttft_ms=60&serves=standard"
[tiers.other]
same_as = "c"
model = "steady"
"""
PIPELINE = """
[asr]
engine = "sphinx"
[llm]
"""


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("HOUSE_KEY", "k")


@pytest.fixture
async def endpoint(tmp_path: Path) -> AsyncIterator[Endpoint]:
    async with serving(Simulator(seed=1)) as endpoint:
        (tmp_path / "turnaround").mkdir()
        text = CATALOG.format(base=endpoint.base_url, root=endpoint.root_url)
        (tmp_path / "turnaround" / "catalog.toml").write_text(text)
        yield endpoint


async def probe(folder: Path, *tiers: str, yes: bool = True, requests: int = 3) -> int:
    file = folder / "mine.toml"
    file.write_text(PIPELINE + "".join(f'[llm.tier{number}]\ntier = "{tier}"\n' for number, tier in enumerate(tiers)))
    options = ["--yes"] if yes else []
    return await asyncio.to_thread(main, [str(file), "--requests", str(requests), *options])


async def test_what_was_measured_takes_the_place_of_what_was_published(
    endpoint: Endpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await probe(tmp_path, "c", "r", "m", "m@fast") == 0
    tiers = load_catalog().tiers
    for name in ("c", "r", "m", "m@fast"):
        first, rate = tiers[name].field, tiers[name].rate
        assert first
        assert first == tiers[name].optimistic
        assert 60 <= first.p50_ms < 1000
        assert first.source.startswith("measured on ")
        assert first.source.endswith(", n=3; p95: the longest")
        assert rate
        assert 50 < rate.tokens_per_second < 4000
    out = capsys.readouterr().out
    assert "tier0: steady?ttft_ms=60&tokens_per_s=400, 3 and one more request, for at most about $0.0" in out
    assert "served fast" in out
    assert "Kept in" in out
    # Another one is added to those.
    assert await probe(tmp_path, "other", requests=1) == 0
    again = load_catalog().tiers
    assert again["other"].field
    assert again["c"] == tiers["c"]


async def test_a_tier_that_is_served_at_another_speed_keeps_its_figures(
    endpoint: Endpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await probe(tmp_path, "slowed@fast", requests=1) == 0
    assert "It served standard, which is another tier: its figures are not kept." in capsys.readouterr().out
    assert load_catalog().tiers["slowed@fast"].field is None


async def test_a_tier_that_fails_is_named_with_its_reason_and_keeps_its_figures(
    endpoint: Endpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await probe(tmp_path, "broken", "c", requests=1) == 4
    out = capsys.readouterr().out
    assert "tier0: steady?fault=500 did not answer: " in out
    tiers = load_catalog().tiers
    assert tiers["broken"].field is None
    assert tiers["c"].field


async def test_billed_requests_want_consent(
    endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    assert await probe(tmp_path, "c", yes=False) == 2
    assert capsys.readouterr().err == "latency: These requests are billed; add --yes to make them.\n"
    terminal = io.StringIO("n\n")
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdin", terminal)
    assert await probe(tmp_path, "c", yes=False) == 0
    assert capsys.readouterr().out.endswith("Nothing was asked.\n")
    assert load_catalog().tiers["c"].field is None


def test_a_pipeline_without_a_language_model_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["embedded"]) == 2
    assert "has no language model" in capsys.readouterr().err


def test_simulated_figures_are_shown_and_not_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--requests", "1", "--set", "llm.large.ttft_ms=50"]
    assert main(["sim-single", *options]) == 0
    out = capsys.readouterr().out
    assert "large: sim:sonnet, 1 and one more request, free" in out
    assert "Nothing was kept" in out
    assert not (tmp_path / "turnaround").exists()
