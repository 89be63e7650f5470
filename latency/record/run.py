"""Reads a run folder: run.json, turns.jsonl and a stereo recording per session.

A folder with a killed writer or damaged files can still be read: the whole parts are read, and the run's notes list the
missing ones. A folder that holds two runs, or is damaged beyond that, is refused with one sentence.
"""

import hashlib
import json
import math
import os
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from latency.audio import recording
from latency.audio.recording import RecordedTime, RecordingError, extent
from latency.record.json_form import TurnError, from_json, parse, read_file, read_json, shown
from latency.record.marks import Count
from latency.record.session import ListedSession, Session
from latency.record.turn import KEYS, NewerTurnError, TurnRecord

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


SCHEMA = 1
"""Of run.json. Keys are only ever added; a key that an older run lacks is unknown."""
UNDER_WAY = "under_way.json"
"""The file of an unfinished session: its record so far, and its finished turns."""
TURN_BEGINS = "{"
"""The beginning of every line of turns.jsonl, even of a truncated one."""
_SECONDS_ROUNDED = 0.1
"""Seconds by which a recording may be shorter than run.json says."""
_OUR_NAME = re.compile(r"\d+-\d+-")
"""The beginning of a run folder's name: the date and the time."""
_OWN_FOLDER = "give every run a folder of its own (`voice replay --out`)"


class RunError(Exception):
    """A run that cannot be read or used as requested; `exit_code` is 2, or 3 when there is no data."""

    def __init__(self, message: str, *, exit_code: int = 2) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def read_run_json(folder: Path) -> dict[str, Any]:
    """The content of run.json: an object of this schema.

    Raises:
        RunError: It is missing, damaged, of another schema, or holds two runs.
    """
    path = folder / "run.json"
    try:
        content = read_json(path)
    except FileNotFoundError:
        raise RunError(f"{folder} is not a run: it has no run.json") from None
    except json.JSONDecodeError as error:
        if error.msg == "Extra data":
            raise RunError(f"{path} holds more than one run; {_OWN_FOLDER}") from error
        raise RunError(
            f"{path} cannot be read: it was cut short or changed ({error}); restore it, or replay again"
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        why = (isinstance(error, OSError) and error.strerror) or error
        raise RunError(f"{path} cannot be read: {why}; restore it, or replay again") from error
    schema = content.get("schema") if isinstance(content, dict) else None
    if not isinstance(content, dict) or not isinstance(schema, int):
        raise RunError(f"{path} is not a file of a run: it has no schema number")
    if schema > SCHEMA:
        raise _newer(path, f"schema {schema}; this one reads {SCHEMA}")
    if schema < SCHEMA:
        command: Any = content.get("command")
        is_known = isinstance(command, list) and command and all(isinstance(word, str) for word in command)
        raise RunError(
            f"{path} was written by an older version (schema {schema}; this one reads {SCHEMA}); "
            f"make the run again with `{shlex.join(command) if is_known else 'voice replay'}`"
        )
    return content


def read_turns(path: Path) -> tuple[tuple[TurnRecord, ...], list[str]]:
    """The turns of turns.jsonl and the notes on them; none when there is no such file.

    Raises:
        RunError: A complete line is not a turn or is of a newer version, or two lines of a turn differ.
    """
    if not path.is_file():
        return (), []
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError as error:
        raise RunError(f"{path} cannot be read: {error}") from error
    # Every complete line ends with a newline, so the start of a turn after the last newline was cut short.
    cut = lines.pop()
    notes = [f"the last line of {path.name} was cut short and is not counted"] if cut else []
    turns: dict[tuple[str, int], TurnRecord] = {}
    twice = 0
    unknown: set[str] = set()
    for number, line in enumerate(lines, 1):
        try:
            content = parse(line)
            turn = TurnRecord.from_json(content)
        except NewerTurnError as error:
            raise _newer(path, str(error)) from error
        except TurnError as error:
            raise _damaged(path, number, str(error)) from error
        unknown |= content.keys() - KEYS
        known = turns.setdefault((turn.session, turn.turn), turn)
        if known is not turn and known != turn:
            raise RunError(
                f"{path}, line {number}: there is another turn {turn.turn} of session {turn.session!r}: two runs are "
                f"mixed in this folder; {_OWN_FOLDER}"
            )
        twice += known is not turn
    if cut.strip("\0") and not cut.startswith(TURN_BEGINS):
        raise _damaged(path, len(lines) + 1, "no turn begins there")
    if twice:
        notes.append(f"{path.name} holds {twice} of its turns twice; each is counted once")
    if unknown:
        names = ", ".join(shown(name) for name in sorted(unknown))
        notes.append(f"{path.name} holds keys that this version does not know and ignores: {names}")
    return tuple(turns.values()), notes


@dataclass(frozen=True, slots=True, kw_only=True)
class UnfinishedSession:
    """The remains of the session that was under way when the writer was killed."""

    session: ListedSession
    turns: tuple[TurnRecord, ...]


def read_under_way(folder: Path) -> UnfinishedSession | None:
    """Read the session that was under way when the run's writer was killed; None when nothing is left of it.

    Raises:
        RunError: The file is not one of a run.
    """
    path = folder / UNDER_WAY
    try:
        content = read_json(path)
        return UnfinishedSession(
            session=from_json(ListedSession, content["session"]),
            turns=tuple(TurnRecord.from_json(turn) for turn in content["turns"]),
        )
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise RunError(f"{path} is not a file of a run: {error}; delete it, or replay again") from error


def check_sessions(
    folder: Path, listed: Sequence[ListedSession], turns: Sequence[TurnRecord], *, is_complete: bool
) -> tuple[frozenset[str], list[str]]:
    """The sessions that may lack turns, and the notes on them.

    Args:
        is_complete: Whether the run's writer finished.

    Raises:
        RunError: The folder holds two runs.
    """
    names = [entry.name for entry in listed]
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise RunError(f"{folder / 'run.json'} lists the session {twice[0]!r} twice: two runs are mixed; {_OWN_FOLDER}")
    found = Counter(turn.session for turn in turns)
    unlisted = [name for name in found if name not in names]
    # Only a killed writer leaves turns of an unlisted session.
    if unlisted and is_complete:
        raise RunError(
            f"{folder / 'turns.jsonl'} holds turns of a session {unlisted[0]!r} that run.json does not list: two runs "
            f"are mixed in this folder; {_OWN_FOLDER}"
        )
    notes = [f"session {name!r} is not in run.json: the run ended while it was saved" for name in unlisted]
    lacking = set(unlisted)
    for entry in listed:
        if entry.turns is not None and (there := found[entry.name]) < entry.turns:
            lacking.add(entry.name)
            notes.append(f"session {entry.name!r}: {there} of its {entry.turns} turns are left in turns.jsonl")
    return frozenset(lacking), notes


def check_recordings(folder: Path, sessions: Sequence[Session]) -> tuple[dict[str, float], list[str]]:
    """The ends of truncated recordings, seconds by session, and the notes on all recordings.

    Raises:
        RunError: A file is not a recording of a run.
    """
    ends: dict[str, float] = {}
    notes = []
    for session in sessions:
        if session.wav is None:
            continue
        path = folder / session.wav
        if not os.path.isfile(path):
            notes.append(
                f"the recording {session.wav} is missing: the turns of session {session.name!r} have no latency"
            )
            continue
        found = recording_extent(path)
        if found is None:
            ends[session.name] = 0.0
            notes.append(f"the recording {session.wav} was cut short before its first sample")
        elif found.is_cut or found.there < (session.seconds or 0.0) - _SECONDS_ROUNDED:
            # A shorter file with a correct header was replaced, or cut by a tool that repairs headers.
            whole = max(found.whole, session.seconds or 0.0)
            ends[session.name] = found.there
            notes.append(
                f"the recording {session.wav} was cut short: {found.there:.1f} of {whole:.1f} s are there, and "
                "turns that reach beyond have no latency"
            )
    return ends, notes


def recording_extent(path: Path) -> RecordedTime | None:
    """The existing length of a recording; None when it ends before its first sample.

    Raises:
        RunError: It is not a recording of a run.
    """
    try:
        return extent(path)
    except (RecordingError, OSError) as error:
        raise RunError(f"{error}; restore the file, or take it away to count its turns as not recorded") from error


def changed_fixtures(listed: Iterable[ListedSession]) -> Iterator[str]:
    """A sentence for each recording that has changed since it was replayed; a missing one does not count."""
    seen = set()
    for entry in listed:
        for name, source in entry.sources.items():
            if source in seen or not (checksum := entry.fixtures.get(name)):
                continue
            seen.add(source)
            try:
                is_changed = hashlib.sha256(read_file(Path(source))).hexdigest() != checksum
            except OSError:
                continue
            if is_changed:
                yield f"{source} has changed since it was replayed in this run"


def _newer(path: Path, schemas: str) -> RunError:
    return RunError(f"{path} was written by a newer version ({schemas}); upgrade with `pip install -U turnaround`")


def _damaged(path: Path, line: int, why: str) -> RunError:
    return RunError(f"{path} is damaged in line {line} ({why}); take the line out, or replay again")


Status = Literal["running", "complete", "interrupted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHeader:
    """The description of a run, detailed enough to repeat it."""

    created: str
    """Local time with offset, ISO 8601."""
    command: Sequence[str] = ()
    pipeline: Mapping[str, Any] = field(default_factory=dict)
    """The resolved pipeline file."""
    components: Mapping[str, str] = field(default_factory=dict)
    simulated: Sequence[str] = ()
    """Names of the simulated components."""
    versions: Mapping[str, str] = field(default_factory=dict)
    host: Mapping[str, Any] = field(default_factory=dict)
    chaos: Count | None = None
    """The seed of the injected faults; None for an ordinary run."""
    commit: str | None = None
    """The commit of the folder in which the command ran, with "-dirty" if files had changed; None if unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    status: Status
    sessions: tuple[ListedSession, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run folder that was read."""

    folder: Path
    status: Status
    header: RunHeader
    sessions: tuple[Session, ...]
    turns: tuple[TurnRecord, ...]
    notes: tuple[str, ...] = ()
    """Warnings about the run: unfinished, cut short."""
    recorded_until: Mapping[str, float] = field(default_factory=dict)
    """The ends of truncated recordings, seconds by session; the others are complete or missing."""
    incomplete_sessions: frozenset[str] = frozenset()
    """Sessions that may lack turns in turns.jsonl."""

    @classmethod
    def load(cls, folder: Path) -> "Run":
        """Read a run folder, even after its writer was killed.

        Raises:
            RunError: No such folder, not a run, written by a newer version, a broken file, or no turns in it.
        """
        try:
            if not folder.is_dir():
                raise RunError(f"{folder} does not exist" if not folder.exists() else f"{folder} is not a folder")
        except OSError as error:
            raise RunError(f"{folder} cannot be read: {error.strerror}") from error
        content = read_run_json(folder)
        turns, cut = read_turns(folder / "turns.jsonl")
        try:
            header, run = from_json(RunHeader, content), from_json(_Run, content)
        except TurnError as error:
            raise RunError(f"{folder / 'run.json'} is not a file of a run: {error}") from error
        sessions, under_way = run.sessions, []
        kept = None if run.status == "complete" else read_under_way(folder)
        if kept is not None and kept.turns and kept.session.name not in {session.name for session in sessions}:
            whole = {(turn.session, turn.turn) for turn in turns}
            turns += tuple(turn for turn in kept.turns if (turn.session, turn.turn) not in whole)
            sessions = (*sessions, kept.session)
            under_way = [f"session {kept.session.name!r} was under way: its last turns are not counted"]
        if not turns:
            raise RunError(f"{folder} holds no turns yet; replay again, unless it is being written", exit_code=3)
        ends, missing = check_recordings(folder, sessions)
        lacking, incomplete = check_sessions(folder, sessions, turns, is_complete=run.status == "complete")
        notes = [
            *([] if run.status == "complete" else [f"this run is not complete: its status is {run.status!r}"]),
            *(*under_way, *cut, *incomplete, *missing),
            *(f"session {s.name!r} ended early: {s.closed}" for s in sessions if s.closed),
            *(f"session {s.name!r} ended before {s.never_sent} of its turns" for s in sessions if s.never_sent),
            *changed_fixtures(sessions),
        ]
        return cls(
            folder=folder,
            status=run.status,
            header=header,
            sessions=sessions,
            turns=turns,
            notes=tuple(notes),
            recorded_until=ends,
            incomplete_sessions=lacking,
        )

    @property
    def lost(self) -> str | None:
        """The missing part of the run, as one clause; None when it is whole."""
        if self.incomplete_sessions:
            return f"turns of {', '.join(sorted(self.incomplete_sessions))} are lost"
        if self.recorded_until:
            return f"the recording of {', '.join(sorted(self.recorded_until))} was cut short"
        return None if self.status == "complete" else f"its status is {self.status!r}"

    @property
    def unrecorded(self) -> tuple[str, ...]:
        """The sessions whose recordings are missing."""
        return tuple(one.name for one in self.sessions if one.wav and not os.path.isfile(self.folder / one.wav))

    def recording(self, session: Session) -> "npt.NDArray[np.int16] | None":
        """A session's existing recording, int16 of shape (samples, 2) at `RATE`; None when there is none.

        Raises:
            RunError: The file is not a stereo recording of 16-bit samples at `RATE`.
        """
        path = self.folder / (session.wav or f"{file_name(session.name)}.wav")
        if not os.path.isfile(path) or recording_extent(path) is None:
            return None
        return recording.read(path)


def newest(root: Path) -> Path:
    """The latest run folder under `root`; one without turns (just begun, or killed) only if there is no other.

    A run whose run.json does not tell the time counts as the oldest.

    Raises:
        RunError: There is none.
    """

    def rank(folder: Path) -> tuple[bool, float, bool, str]:
        turns = folder / "turns.jsonl"
        has_turns = (turns.is_file() and turns.stat().st_size > 0) or (folder / UNDER_WAY).is_file()
        return has_turns, _created(folder / "run.json"), bool(_OUR_NAME.match(folder.name)), folder.name

    found = [path.parent for path in root.glob("[!.]*/run.json")]
    if not found:
        raise RunError(f"there is no run in {root}; run `voice replay` first", exit_code=3)
    return max(found, key=rank)


class _Created(msgspec.Struct):
    created: str


def _created(path: Path) -> float:
    """The time of a run, in seconds since the epoch; minus infinity if the file does not tell it."""
    try:
        return datetime.fromisoformat(msgspec.json.decode(read_file(path), type=_Created).created).timestamp()
    except (OSError, ValueError, OverflowError):
        return -math.inf


def file_name(name: str) -> str:
    """A name with only the characters that are safe in the name of a file."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "run"
