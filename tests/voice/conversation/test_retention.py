from datetime import datetime, timedelta
from pathlib import Path

import pytest

from voice.conversation.transcript import Transcript, delete_expired

NOW = datetime(2026, 11, 24, 9, 0, 0)


def keep(folder: Path, *names: str) -> None:
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).touch()


def kept(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_only_transcripts_of_older_calls_are_deleted(tmp_path: Path) -> None:
    stays = ["20261117-090001.txt", "20261124-080000.txt", "20261301-000000.txt", "20200101-000000.wav", "notes.txt"]
    keep(tmp_path, *stays, "20261117-090000.txt", "20261117-085959-2.txt", "20200101-000000-17.txt")
    delete_expired(tmp_path, days=7, now=NOW)
    assert kept(tmp_path) == sorted(stays)


def test_what_cannot_be_deleted_is_left_and_the_others_go(tmp_path: Path) -> None:
    (tmp_path / "20200101-000000.txt").mkdir()
    keep(tmp_path, "20200101-000001.txt", "20200101-000002.txt")
    delete_expired(tmp_path, days=1, now=NOW)
    assert kept(tmp_path) == ["20200101-000000.txt"]


@pytest.mark.parametrize("days", [30, None])
async def test_a_new_transcript_takes_the_expired_ones_away(tmp_path: Path, days: int | None) -> None:
    keep(tmp_path, "20261001-090000.txt")
    await Transcript(tmp_path, days=days, clock=lambda: NOW).add("caller", "hello")
    assert kept(tmp_path) == [*([] if days else ["20261001-090000.txt"]), "20261124-090000.txt"]


async def test_a_long_call_does_not_lose_its_own(tmp_path: Path) -> None:
    times = iter([NOW, NOW, NOW + timedelta(days=2)])
    transcript = Transcript(tmp_path, days=1, clock=lambda: next(times))
    await transcript.add("caller", "hello")
    await transcript.add("agent", "Hello!")
    assert len(kept(tmp_path)) == 1
