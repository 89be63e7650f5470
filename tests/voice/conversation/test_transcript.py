from datetime import datetime
from pathlib import Path

import pytest

from voice.conversation.transcript import Transcript, check_folder
from voice.errors import ConfigurationError

NOW = datetime(2026, 11, 20, 16, 10, 5)


async def test_each_line_says_when_who_and_what(tmp_path: Path) -> None:
    one, other = (Transcript(tmp_path / "kept", clock=lambda: NOW) for _ in range(2))
    await one.add("caller", "what time is it")
    await one.add("agent", "It is 4:10\n in the afternoon.")
    await one.add("agent", "  ")
    await other.add("caller", "hello")
    assert (tmp_path / "kept" / "20261120-161005.txt").read_text() == (
        "16:10:05 caller: what time is it\n16:10:05 agent: It is 4:10 in the afternoon.\n"
    )
    assert (tmp_path / "kept" / "20261120-161005-2.txt").read_text() == "16:10:05 caller: hello\n"


async def test_a_turn_that_goes_on_takes_the_place_of_its_beginning(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path, clock=lambda: NOW)
    for who, text in (
        ("caller", "set a timer"), ("agent", "For how —"), ("caller", "set a timer for ten minutes"),
        ("agent", "Timer set."), ("caller", "set a timer for ten minutes and a half"),
    ):  # fmt: skip
        await transcript.add(who, text)  # type: ignore[arg-type]
    path = tmp_path / "20261120-161005.txt"
    assert [line.split(": ", 1)[1] for line in path.read_text().splitlines()] == [
        "For how —", "set a timer for ten minutes", "Timer set.", "set a timer for ten minutes and a half",
    ]  # fmt: skip


async def test_corrected_words_replace_the_callers_latest(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path, clock=lambda: NOW)
    await transcript.correct("nobody has spoken")
    await transcript.add("caller", "hello")
    await transcript.add("agent", "Hello.")
    await transcript.add("caller", "set a timer for fifteen minutes")
    await transcript.correct("set a timer for fifty minutes")
    lines = (tmp_path / "20261120-161005.txt").read_text().splitlines()
    assert [line.split(" ", 1)[1] for line in lines] == [
        "caller: hello", "agent: Hello.", "caller: set a timer for fifty minutes",
    ]  # fmt: skip


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigurationError, match="call.transcripts: .*file.* cannot be written to"):
        check_folder(str(tmp_path / "file" / "in"))
    check_folder(str(tmp_path / "new" / "one"))
    assert list((tmp_path / "new" / "one").iterdir()) == []
