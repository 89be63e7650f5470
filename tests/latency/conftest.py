"""Run folders as fixtures; the conversations that they hold are made in `tests.latency.conversations`."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from latency.record.run import Run, RunHeader
from latency.record.run_writer import RunWriter, new_folder
from latency.record.session import Session
from latency.record.turn import TurnRecord
from tests.latency.conversations import (
    HEADER,
    SESSION,
    Conversation,
    MakeRun,
    barge_in_turn,
    cut_off_turn,
    first_turn,
    unanswered_turn,
)


@pytest.fixture(autouse=True)
def no_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports go into pipes here; the width of the terminal that runs the tests must not matter."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def make_run(tmp_path: Path) -> MakeRun:
    """Write a run folder of one session with the product's own writer."""

    def make(
        turns: Sequence[TurnRecord],
        stereo: npt.NDArray[np.int16] | None,
        *,
        header: RunHeader = HEADER,
        status: str = "complete",
        **session: Any,
    ) -> Path:
        writer = RunWriter(new_folder(tmp_path / "runs", header), header=header)
        writer.add_turns(turns)
        wav = None if stereo is None else writer.write_session_wav("commands", stereo)
        writer.add_session(Session(name="commands", wav=wav, **session))
        return writer.finish(status)  # type: ignore[arg-type]

    return make


@pytest.fixture
def short_run(make_run: MakeRun) -> Path:
    """A whole run: an answer after 600 ms, one cut off in a pause, a barge-in and a turn nobody answers."""
    talk = Conversation(24).user(1, 2).bot(2.6, 4)
    talk.user(5, 5.6).user(6.4, 7).bot(6.0, 6.2).bot(7.9, 10.0)
    talk.user(9.5, 11).bot(11.7, 13)
    talk.user(15, 16)
    return make_run([first_turn(), cut_off_turn(), barge_in_turn(), unanswered_turn()], talk.samples, **SESSION)


@pytest.fixture
def load() -> Callable[[Path], Run]:
    """Read a run folder."""
    return Run.load
