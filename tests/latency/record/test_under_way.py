"""What is kept of a session under way counts until the session is saved, and never twice."""

from pathlib import Path

import numpy as np
import pytest

from latency.record.run import UNDER_WAY, Run, RunError, newest
from latency.record.run_writer import RunWriter
from latency.record.session import Session
from tests.latency.conversations import HEADER, barge_in_turn, first_turn

SILENCE = np.zeros((16000, 2), np.int16)


def writing(tmp_path: Path) -> RunWriter:
    return RunWriter(tmp_path / "20261123-100000-embedded", header=HEADER)


def session() -> Session:
    return Session(name=first_turn().session, wav="tour.wav", seconds=1.0)


def test_the_latest_of_what_was_kept_is_read(tmp_path: Path) -> None:
    writer = writing(tmp_path)
    writer.keep(session(), [], SILENCE)
    writer.keep(session(), [first_turn()], SILENCE)
    run = Run.load(newest(tmp_path))
    assert run.status == "running"
    assert run.turns == (first_turn(),)
    assert [one.name for one in run.sessions] == [first_turn().session]
    assert any("was under way" in note for note in run.notes)


def test_a_session_that_was_saved_counts_once(tmp_path: Path) -> None:
    writer = writing(tmp_path)
    writer.keep(session(), [first_turn()], SILENCE)
    wav = writer.write_session_wav(first_turn().session, SILENCE)
    writer.add_turns([first_turn(), barge_in_turn()])
    # Killed here, it has all turns, each once.
    assert Run.load(writer.folder).turns == (first_turn(), barge_in_turn())
    writer.add_session(Session(name=first_turn().session, wav=wav, seconds=1.0))
    assert not (writer.folder / UNDER_WAY).exists()
    writer.finish("complete")
    assert len(Run.load(writer.folder).turns) == 2
    with pytest.raises(ValueError, match="a name of its own"):
        writer.write_session_wav(first_turn().session, SILENCE)


def test_a_run_that_is_taken_back_leaves_nothing(tmp_path: Path) -> None:
    writer = writing(tmp_path)
    writer.keep(session(), [first_turn()], SILENCE)
    writer.discard()
    assert not writer.folder.exists()


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"session": 1, "turns": []}', '{"session": {"name": "a"}'])
def test_a_damaged_file_is_refused_with_one_sentence(tmp_path: Path, content: str) -> None:
    writer = writing(tmp_path)
    (writer.folder / UNDER_WAY).write_text(content)
    with pytest.raises(RunError, match=r"under_way\.json is not a file of a run: .*; delete it, or replay again"):
        Run.load(writer.folder)
