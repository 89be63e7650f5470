"""A run folder: run.json, turns.jsonl and a stereo recording per session; written once, read by everything else.

A folder whose writer was killed stays readable: run.json and the recordings are replaced whole, turns are appended line
by line, and a last line that was cut short is passed over and told.
"""

import json
import os
import re
import wave
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from latency.session import Session
from latency.turn import TurnError, TurnRecord

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

SCHEMA = 1
RATE = 16000
"""Sample rate of the recordings, Hz."""
Status = Literal["running", "complete", "interrupted"]
_FOLDERS = "[0-9]*-[0-9]*-*/run.json"


class RunError(Exception):
    """A run that cannot be read; `exit_code` is 2 for a wrong path or format, 3 when there is no data yet."""

    def __init__(self, message: str, *, exit_code: int = 2) -> None:
        super().__init__(message)
        self.exit_code = exit_code


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
        self._header = asdict(header)
        self._sessions: list[Session] = []
        self._turns = 0
        self._write_run("running")

    @property
    def is_empty(self) -> bool:
        """Whether no turn has been written."""
        return self._turns == 0

    def add_turns(self, turns: Iterable[TurnRecord]) -> None:
        """Append turns to turns.jsonl; they are in the file when this returns."""
        with (self.folder / "turns.jsonl").open("a", encoding="utf-8") as file:
            for turn in turns:
                file.write(json.dumps(turn.to_json(), ensure_ascii=False) + "\n")
                self._turns += 1

    def write_session_wav(self, name: str, stereo: "npt.NDArray[np.int16]") -> str:
        """Write a session's recording and return its file name.

        Args:
            name: The session's name.
            stereo: int16, shape (samples, 2), 16 kHz: left the user as injected, right the bot as played.

        Raises:
            ValueError: Another type or shape, or a session of that name has a recording already.
        """
        if stereo.dtype != "int16" or stereo.ndim != 2 or stereo.shape[1] != 2:
            raise ValueError(f"a recording is int16 of shape (samples, 2), not {stereo.dtype} of {stereo.shape}")
        path = self.folder / f"{_file_name(name)}.wav"
        if path.exists():
            raise ValueError(f"{path} exists: every session of a run needs a name of its own")
        part = path.with_suffix(".wav.part")
        with wave.open(str(part), "wb") as file:
            file.setnchannels(2)
            file.setsampwidth(2)
            file.setframerate(RATE)
            file.writeframes(stereo.astype("<i2").tobytes())
        os.replace(part, path)
        return path.name

    def add_session(self, session: Session) -> None:
        """Add a finished session to run.json; call it after its turns and its recording are written."""
        self._sessions.append(session)
        self._write_run("running")

    def finish(self, status: Status, *, load_after: float | None = None) -> Path:
        """Set the final status and the machine's load at the end; returns the run folder."""
        self._header["host"] = {**self._header["host"], "load_after": load_after}
        self._write_run(status)
        return self.folder

    def discard(self) -> None:
        """Take back what was written, and the folder if nothing else is in it."""
        names = ["run.json", "turns.jsonl", *(session.wav for session in self._sessions if session.wav)]
        for name in names:
            (self.folder / name).unlink(missing_ok=True)
        if not any(self.folder.iterdir()):
            self.folder.rmdir()

    def _write_run(self, status: Status) -> None:
        content = {"schema": SCHEMA, "status": status, **self._header}
        content["sessions"] = [session.to_json() for session in self._sessions]
        part = self.folder / "run.json.part"
        part.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
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

    @classmethod
    def load(cls, folder: Path) -> "Run":
        """Read a run folder, also one whose writer was killed.

        Raises:
            RunError: No such folder, not a run, written by a newer version, a broken file, or no turns in it.
        """
        if not folder.is_dir():
            raise RunError(f"{folder} does not exist" if not folder.exists() else f"{folder} is not a folder")
        content = _read_run_json(folder)
        turns, notes = _read_turns(folder / "turns.jsonl")
        try:
            known = {item.name for item in fields(RunHeader)}
            header = RunHeader(**{key: value for key, value in content.items() if key in known})
            sessions = tuple(Session.from_json(entry) for entry in content["sessions"])
            status = content["status"]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise RunError(f"{folder / 'run.json'} is not what a run writes: {error!r}") from error
        if status != "complete":
            notes.insert(0, f"this run is not complete: its status is {status!r}")
        notes += [f"session {s.name!r} ended early: {s.closed}" for s in sessions if s.closed]
        notes += [f"session {s.name!r}: {s.never_sent} of its turns were never sent" for s in sessions if s.never_sent]
        if not turns:
            raise RunError(f"{folder} holds no turns yet; run `voice replay` first", exit_code=3)
        return cls(folder=folder, status=status, header=header, sessions=sessions, turns=turns, notes=tuple(notes))

    def recording(self, session: Session) -> "npt.NDArray[np.int16] | None":
        """A session's recording, int16 of shape (samples, 2) at `RATE`; None when the file is not there.

        Raises:
            RunError: The file is not a stereo recording of 16-bit samples at `RATE`.
        """
        import numpy as np

        path = self.folder / (session.wav or f"{_file_name(session.name)}.wav")
        if not path.is_file():
            return None
        try:
            with wave.open(str(path), "rb") as file:
                shape = (file.getnchannels(), file.getsampwidth() * 8, file.getframerate())
                samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")
        except (wave.Error, EOFError) as error:
            raise RunError(f"{path} is not a readable recording: {error}") from error
        if shape != (2, 16, RATE):
            raise RunError(f"{path} has {shape[0]} channel(s), {shape[1]} bit, {shape[2]} Hz; not 2, 16, {RATE}")
        return samples.reshape(-1, 2)


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


def _read_run_json(folder: Path) -> dict[str, Any]:
    path = folder / "run.json"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RunError(f"{folder} is not a run: it has no run.json") from None
    except (OSError, ValueError) as error:
        raise RunError(f"{path} cannot be read: {error}") from error
    schema = content.get("schema") if isinstance(content, dict) else None
    if not isinstance(content, dict) or not isinstance(schema, int):
        raise RunError(f"{path} is not what a run writes: it has no schema number")
    if schema > SCHEMA:
        raise RunError(f"{path} was written by a newer version (schema {schema}; this one reads {SCHEMA}); upgrade")
    return content


def _read_turns(path: Path) -> tuple[tuple[TurnRecord, ...], list[str]]:
    if not path.is_file():
        return (), []
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    # Every whole line ends with a newline, so what follows the last one was cut short.
    cut = lines.pop()
    notes = [f"the last line of {path.name} was cut short and is not counted"] if cut else []
    turns = []
    for number, line in enumerate(lines, 1):
        try:
            turns.append(TurnRecord.from_json(line))
        except TurnError as error:
            raise RunError(f"{path}, line {number}: {error}") from error
    return tuple(turns), notes
