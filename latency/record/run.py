"""A run folder: run.json, turns.jsonl and a stereo recording per session; written once, read by everything else.

A folder whose writer was killed stays readable: run.json and the recordings are replaced whole, turns are appended line
by line, and a last line that was cut short is passed over and told.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from latency.audio import recording
from latency.audio.recording import RATE
from latency.record.json_form import TurnError, from_json, to_json
from latency.record.run_files import (
    SCHEMA,
    RunError,
    changed_fixtures,
    check_recordings,
    check_sessions,
    read_run_json,
    read_turns,
    recording_extent,
)
from latency.record.session import Session, SessionFiles
from latency.record.turn import TurnRecord

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["RATE", "SCHEMA", "Run", "RunError", "RunHeader", "RunWriter", "Status", "new_folder", "newest"]

Status = Literal["running", "complete", "interrupted"]
_FOLDERS = "[0-9]*-[0-9]*-*/run.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHeader:
    """What a run was: enough to repeat it."""

    created: str
    """Local time with offset, ISO 8601."""
    command: Sequence[str] = ()
    pipeline: Mapping[str, Any] = field(default_factory=dict)
    """The pipeline file as resolved."""
    components: Mapping[str, str] = field(default_factory=dict)
    simulated: Sequence[str] = ()
    """Names of components that only pretend."""
    versions: Mapping[str, str] = field(default_factory=dict)
    host: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    status: Status
    sessions: tuple[Session, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Files:
    sessions: tuple[SessionFiles, ...]


class RunWriter:
    """Writes a run folder as its sessions happen; not for use from several threads.

    Args:
        folder: The run's folder, such as `new_folder` makes; made when missing.
        header: Goes into run.json.

    Raises:
        RunError: The folder already holds a run.
        OSError: The folder cannot be made or written.
    """

    def __init__(self, folder: Path, *, header: RunHeader) -> None:
        if (folder / "run.json").exists():
            raise RunError(f"{folder} already holds a run; name another folder")
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._header: dict[str, Any] = to_json(header)
        self._sessions: list[tuple[Session, Mapping[str, str]]] = []
        self._turns: Counter[str] = Counter()
        self._write_run("running")

    @property
    def is_empty(self) -> bool:
        """Whether no turn has been written."""
        return not self._turns

    def add_turns(self, turns: Iterable[TurnRecord]) -> None:
        """Append turns to turns.jsonl; they are in the file when this returns."""
        with (self.folder / "turns.jsonl").open("a", encoding="utf-8") as file:
            for turn in turns:
                file.write(json.dumps(turn.to_json(), ensure_ascii=False) + "\n")
                self._turns[turn.session] += 1
            file.flush()
            os.fsync(file.fileno())

    def write_session_wav(self, name: str, stereo: "npt.NDArray[np.int16]") -> str:
        """Write a session's recording and return its file name.

        Args:
            name: The session's name.
            stereo: int16, shape (samples, 2), 16 kHz: left the user as injected, right the bot as played.

        Raises:
            ValueError: Another type or shape, or a session of that name has a recording already.
        """
        path = self.folder / f"{_file_name(name)}.wav"
        if path.exists():
            raise ValueError(f"{path} exists: every session of a run needs a name of its own")
        recording.write(path, stereo)
        return path.name

    def add_session(self, session: Session, *, sources: Mapping[str, str] | None = None) -> None:
        """Add a finished session to run.json; call it after its turns and its recording are written.

        Args:
            session: What it was.
            sources: Where the files of `session.fixtures` lie, so that a reader can tell whether they have changed.
        """
        self._sessions.append((session, sources or {}))
        self._write_run("running")

    def finish(self, status: Status, *, load_after: float | None = None) -> Path:
        """Set the final status and the machine's load at the end; returns the run folder."""
        self._header["host"] = {**self._header["host"], "load_after": load_after}
        self._write_run(status)
        return self.folder

    def discard(self) -> None:
        """Take back what was written, and the folder if nothing else is in it."""
        names = ["run.json", "turns.jsonl", *(session.wav for session, _ in self._sessions if session.wav)]
        for name in names:
            (self.folder / name).unlink(missing_ok=True)
        if not any(self.folder.iterdir()):
            self.folder.rmdir()

    def _write_run(self, status: Status) -> None:
        content = {"schema": SCHEMA, "status": status, **self._header}
        content["sessions"] = [
            {**to_json(session), "turns": self._turns[session.name], "sources": dict(sources)}
            for session, sources in self._sessions
        ]
        part = self.folder / "run.json.part"
        with part.open("w", encoding="utf-8") as file:
            file.write(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
            file.flush()
            # A machine that loses its power must not leave the new name without the content.
            os.fsync(file.fileno())
        os.replace(part, self.folder / "run.json")


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
        if not turns:
            raise RunError(f"{folder} holds no turns yet; run `voice replay` first", exit_code=3)
        ends, missing = check_recordings(folder, run.sessions)
        notes = [] if run.status == "complete" else [f"this run is not complete: its status is {run.status!r}"]
        lacking, incomplete = check_sessions(folder, listed, turns, is_complete=run.status == "complete")
        notes += [*cut, *incomplete, *missing]
        notes += [f"session {s.name!r} ended early: {s.closed}" for s in run.sessions if s.closed]
        notes += [f"session {s.name!r} ended before {s.never_sent} of its turns" for s in run.sessions if s.never_sent]
        notes += changed_fixtures(listed)
        return cls(
            folder=folder,
            status=run.status,
            header=header,
            sessions=run.sessions,
            turns=turns,
            notes=tuple(notes),
            recorded_until=ends,
            lacking=lacking,
        )

    def recording(self, session: Session) -> "npt.NDArray[np.int16] | None":
        """A session's recording as far as it goes, int16 of shape (samples, 2) at `RATE`; None when there is none.

        Raises:
            RunError: The file is not a stereo recording of 16-bit samples at `RATE`.
        """
        path = self.folder / (session.wav or f"{_file_name(session.name)}.wav")
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


def new_folder(root: Path, header: RunHeader) -> Path:
    """Make an empty folder for a run under `root`: its creation time, then the pipeline's name.

    Raises:
        OSError: It cannot be made.
    """
    stamp = re.sub(r"[-:]", "", header.created[:19]).replace("T", "-")
    name = f"{stamp}-{_file_name(str(header.pipeline.get('name', 'run')))}"
    root.mkdir(parents=True, exist_ok=True)
    for suffix in ("", *(f"-{n}" for n in range(2, 100))):
        folder = root / f"{name}{suffix}"
        try:
            folder.mkdir()
        except FileExistsError:
            continue
        return folder
    raise FileExistsError(f"{root} already holds 99 runs named {name}")


def _has_turns(folder: Path) -> bool:
    turns = folder / "turns.jsonl"
    return turns.is_file() and turns.stat().st_size > 0


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "run"
