"""Reads a run folder: run.json, turns.jsonl and a stereo recording per session.

A folder whose writer was killed can still be read: a last line of turns.jsonl that was cut short is skipped, and the
run's notes say so.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from latency.audio import recording
from latency.audio.recording import RATE
from latency.record.json_form import TurnError, from_json
from latency.record.run_files import (
    UNDER_WAY,
    RunError,
    changed_fixtures,
    check_recordings,
    check_sessions,
    read_run_json,
    read_turns,
    read_under_way,
    recording_extent,
)
from latency.record.session import Session, SessionFiles
from latency.record.turn import TurnRecord
from latency.record.units import Count

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["RATE", "Run", "RunError", "RunHeader", "Status", "file_name", "newest"]

Status = Literal["running", "complete", "interrupted"]
_FOLDERS = "[0-9]*-[0-9]*-*/run.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHeader:
    """Describes a run, in enough detail to repeat it."""

    created: str
    """Local time with offset, ISO 8601."""
    command: Sequence[str] = ()
    pipeline: Mapping[str, Any] = field(default_factory=dict)
    """The pipeline file as resolved."""
    components: Mapping[str, str] = field(default_factory=dict)
    simulated: Sequence[str] = ()
    """Names of the simulated components."""
    versions: Mapping[str, str] = field(default_factory=dict)
    host: Mapping[str, Any] = field(default_factory=dict)
    chaos: Count | None = None
    """The seed by which faults were put into the calls; None for an ordinary run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    status: Status
    sessions: tuple[Session, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Files:
    sessions: tuple[SessionFiles, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run folder that was read."""

    folder: Path
    status: Status
    header: RunHeader
    sessions: tuple[Session, ...]
    turns: tuple[TurnRecord, ...]
    notes: tuple[str, ...] = ()
    """What a reader of the figures has to know: unfinished, cut short."""
    recorded_until: Mapping[str, float] = field(default_factory=dict)
    """Where the recording of a session ends that was cut short, seconds; the others are whole or not there at all."""
    lacking: frozenset[str] = frozenset()
    """Sessions whose turns are not all in turns.jsonl, or may not be."""

    @classmethod
    def load(cls, folder: Path) -> "Run":
        """Read a run folder, also one whose writer was killed.

        Raises:
            RunError: No such folder, not a run, written by a newer version, a broken file, or no turns in it.
        """
        if not folder.is_dir():
            raise RunError(f"{folder} does not exist" if not folder.exists() else f"{folder} is not a folder")
        content = read_run_json(folder)
        turns, cut = read_turns(folder / "turns.jsonl")
        try:
            header = from_json(RunHeader, content)
            run, listed = from_json(_Run, content), from_json(_Files, content).sessions
        except TurnError as error:
            raise RunError(f"{folder / 'run.json'} is not what a run writes: {error}") from error
        sessions, under_way = run.sessions, []
        kept = None if run.status == "complete" else read_under_way(folder)
        if kept is not None and kept.turns and kept.session.name not in {session.name for session in sessions}:
            whole = {(turn.session, turn.turn) for turn in turns}
            turns += tuple(turn for turn in kept.turns if (turn.session, turn.turn) not in whole)
            sessions, listed = (*sessions, kept.session), (*listed, SessionFiles(name=kept.session.name))
            under_way = [f"session {kept.session.name!r} was under way: its last turns are not counted"]
        if not turns:
            raise RunError(f"{folder} holds no turns yet; replay again, unless it is being written", exit_code=3)
        ends, missing = check_recordings(folder, sessions)
        notes = [] if run.status == "complete" else [f"this run is not complete: its status is {run.status!r}"]
        lacking, incomplete = check_sessions(folder, listed, turns, is_complete=run.status == "complete")
        notes += [*under_way, *cut, *incomplete, *missing]
        notes += [f"session {s.name!r} ended early: {s.closed}" for s in sessions if s.closed]
        notes += [f"session {s.name!r} ended before {s.never_sent} of its turns" for s in sessions if s.never_sent]
        notes += changed_fixtures(listed)
        return cls(
            folder=folder,
            status=run.status,
            header=header,
            sessions=sessions,
            turns=turns,
            notes=tuple(notes),
            recorded_until=ends,
            lacking=lacking,
        )

    @property
    def lost(self) -> str | None:
        """What of the run is not here, as one clause; None when it is whole."""
        if self.lacking:
            return f"turns of {', '.join(sorted(self.lacking))} are lost"
        if self.recorded_until:
            return f"the recording of {', '.join(sorted(self.recorded_until))} was cut short"
        return None if self.status == "complete" else f"its status is {self.status!r}"

    def recording(self, session: Session) -> "npt.NDArray[np.int16] | None":
        """A session's recording as far as it goes, int16 of shape (samples, 2) at `RATE`; None when there is none.

        Raises:
            RunError: The file is not a stereo recording of 16-bit samples at `RATE`.
        """
        path = self.folder / (session.wav or f"{file_name(session.name)}.wav")
        if not path.is_file() or recording_extent(path) is None:
            return None
        return recording.read(path)


def newest(root: Path) -> Path:
    """The latest run folder under `root`; one without turns, just begun or killed at once, only if there is no other.

    Raises:
        RunError: There is none.
    """
    found = [path.parent for path in root.glob(_FOLDERS)]
    if not found:
        raise RunError(f"there is no run in {root}; run `voice replay` first", exit_code=3)
    return max(found, key=lambda folder: (_has_turns(folder), folder.name))


def _has_turns(folder: Path) -> bool:
    turns = folder / "turns.jsonl"
    return (turns.is_file() and turns.stat().st_size > 0) or (folder / UNDER_WAY).is_file()


def file_name(name: str) -> str:
    """A name with only the characters that are safe in the name of a file."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "run"
