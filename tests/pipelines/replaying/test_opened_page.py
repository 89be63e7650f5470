"""`voice replay --open`, with a conversation that was replayed before."""

import argparse
import webbrowser
from pathlib import Path

import pytest

from pipelines.replaying import replay
from tests.latency.conftest import make_run, short_run

__all__ = ["make_run", "short_run"]
ARGUMENTS = {"check": [], "url": None, "chaos": None, "out": None, "fixtures": [], "all": False, "open": True}
ARGUMENTS |= {"ab": None, "baseline": None}


@pytest.mark.parametrize("is_browser_there", [True, False])
def test_the_page_of_a_replay_is_written_with_its_audio_and_opened(
    short_run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], is_browser_there: bool
) -> None:
    opened: list[str] = []

    async def replayed(*_: object) -> list[Path]:
        return [short_run]

    def open_page(address: str) -> bool:
        opened.append(address)
        return is_browser_there

    monkeypatch.setattr(replay, "_replay", replayed)
    monkeypatch.setattr(webbrowser, "open", open_page)
    assert replay.run_replay(argparse.Namespace(**ARGUMENTS)) == 0
    page = short_run / "report.html"
    assert opened == [page.as_uri()]
    assert page.read_text().count('<script type="text/plain" data-turn="turn-') == 4
    found = capsys.readouterr()
    assert "Turn latency  p50" in found.out
    message = f"voice: there is no browser to open {page} with; open it elsewhere\n"
    assert found.err.endswith(message) is not is_browser_there
