"""Writes a run folder while its sessions happen.

A folder whose writer is killed can still be read: run.json is replaced as a whole, and turns are appended line by line.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from latency.audio import recording
from latency.record.json_form import to_json
from latency.record.run import SCHEMA, UNDER_WAY, RunError, RunHeader, Status, file_name
from latency.record.session import Session
from latency.record.turn import TurnRecord

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


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
        self._kept: str | None = None
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

    def wav_of(self, name: str) -> str:
        """The file name of a session's recording."""
        return f"{file_name(name)}.wav"

    def keep(self, session: Session, turns: Iterable[TurnRecord], stereo: "npt.NDArray[np.int16]") -> None:
        """Save a session under way, in place of its last save, in case the writer is killed.

        Args:
            session: Its record so far.
            turns: Its finished turns.
            stereo: Its recording so far, see `write_session_wav`.
        """
        self._kept = session.name
        recording.write(self.folder / self.wav_of(session.name), stereo)
        content = {"session": to_json(session), "turns": [turn.to_json() for turn in turns]}
        self._replace(UNDER_WAY, json.dumps(content, ensure_ascii=False) + "\n")

    def write_session_wav(self, name: str, stereo: "npt.NDArray[np.int16]") -> str:
        """Write a session's recording and return its file name.

        Args:
            stereo: int16, shape (samples, 2), 16 kHz: left the user as sent, right the bot as played.

        Raises:
            ValueError: Another type or shape, or a session of that name already has a recording.
        """
        path = self.folder / self.wav_of(name)
        if path.exists() and name != self._kept:
            raise ValueError(f"{path} exists: every session of a run needs a name of its own")
        recording.write(path, stereo)
        return path.name

    def add_session(self, session: Session, *, sources: Mapping[str, str] | None = None) -> None:
        """Add a finished session to run.json; call it after its turns and its recording are written.

        Args:
            session: Its record.
            sources: The paths of `session.fixtures`, so that a reader can tell whether the files have changed.
        """
        self._sessions.append((session, sources or {}))
        self._write_run("running")
        (self.folder / UNDER_WAY).unlink(missing_ok=True)
        self._kept = None

    def finish(self, status: Status, *, load_after: float | None = None) -> Path:
        """Set the final status and the machine's load at the end; returns the run folder."""
        self._header["host"] = {**self._header["host"], "load_after": load_after}
        self._write_run(status)
        return self.folder

    def discard(self) -> None:
        """Delete the written files, and the folder if nothing else is in it."""
        kept = [] if self._kept is None else [self.wav_of(self._kept)]
        names = [
            "run.json",
            "turns.jsonl",
            UNDER_WAY,
            *kept,
            *(session.wav for session, _ in self._sessions if session.wav),
        ]
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
        self._replace("run.json", json.dumps(content, indent=1, ensure_ascii=False) + "\n")

    def _replace(self, name: str, text: str) -> None:
        """Replace a file as a whole: it has the old content or the new one."""
        part = self.folder / f"{name}.part"
        with part.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            # A power failure must not leave the new name without the content.
            os.fsync(file.fileno())
        os.replace(part, self.folder / name)


def new_folder(root: Path, header: RunHeader) -> Path:
    """Make an empty folder for a run under `root`: its creation time, then the pipeline's name.

    Raises:
        OSError: It cannot be made.
    """
    stamp = re.sub(r"[-:]", "", header.created[:19]).replace("T", "-")
    name = f"{stamp}-{file_name(str(header.pipeline.get('name', 'run')))}"
    root.mkdir(parents=True, exist_ok=True)
    for suffix in ("", *(f"-{n}" for n in range(2, 100))):
        folder = root / f"{name}{suffix}"
        try:
            folder.mkdir()
        except FileExistsError:
            continue
        return folder
    raise FileExistsError(f"{root} already holds 99 runs named {name}")
