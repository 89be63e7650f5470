"""Writes a call to a run folder, also while it is under way, and first checks that the folder can be written."""

import asyncio
import os
import platform
import subprocess
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from latency.command_line import RUNS
from latency.record.run import RunHeader
from latency.record.run_writer import RunWriter
from latency.record.session import InjectedFault, ServerLoad
from pipelines.replaying.call_records import session_record, turn_records
from pipelines.server_process import Load, Server
from voice.client.call.call_result import CallResult
from voice.client.call.session import CallSession
from voice.client.caller.scripted_caller import PlacedTurn
from voice.client.fixtures.fixture import Fixture
from voice.errors import ComponentError, ConfigurationError
from voice.redaction import redacted


def check_folder(out: str | None) -> None:
    """Refuse a run folder that cannot be written, before anything runs.

    Args:
        out: the folder that `--out` names; None for a new folder in runs/.

    Raises:
        ConfigurationError: it holds a run already, or cannot be made or written.
    """
    folder = (Path(out) if out else RUNS).absolute()
    if out and (folder / "run.json").exists():
        raise ConfigurationError(f"{out} already holds a run; name another folder with --out.")
    there = next(path for path in (folder, *folder.parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise ConfigurationError(f"No run can be written to {folder}; name another folder with --out.")


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Wrap the writing to a run folder, so that a failure is reported in one sentence.

    Raises:
        ComponentError: the disk is full, or the folder has gone.
    """
    try:
        yield
    except OSError as error:
        raise ComponentError(f"The run cannot be written to {folder}: {error.strerror or error}.") from error


def save(
    result: CallResult,
    fixture: Fixture,
    name: str,
    writer: RunWriter,
    *,
    cold: bool,
    load: ServerLoad | None,
    injected: tuple[InjectedFault, ...] = (),
    marked: Mapping[int, float] | None = None,
) -> None:
    """Write a call's turns, recording and facts into the run folder; a call that never began leaves nothing.

    `marked`: when the caller marked turns as bad, by the server's number of the turn.
    """
    if not result.seconds:
        return
    wav = writer.write_session_wav(name, result.stereo())
    writer.add_turns(turn_records(result, fixture, name, cold=cold, marked=marked))
    session = session_record(result, fixture, name=name, wav=wav, cold=cold, server=load)
    session = replace(session, injected=injected)
    # A turn that was spoken live has no file.
    sources = {turn.name: str(turn.wav.resolve()) for turn in fixture.turns if turn.sha256}
    writer.add_session(session, sources=sources)


class PartialCallWriter:
    """Writes the finished turns of one call, with the recording so far, whenever the next turn begins.

    So a killed replay loses no finished turn.

    Args:
        session: the call.
        fixture: the recordings played in it.
        name: the session's name in the run.
        writer: writes the run folder.
        cold: whether the server had no call before.
    """

    def __init__(self, session: CallSession, fixture: Fixture, name: str, writer: RunWriter, *, cold: bool) -> None:
        self._session, self._fixture, self._name = session, fixture, name
        self._writer, self._cold = writer, cold
        self._writing: list[asyncio.Task[None]] = []
        self._one_by_one = asyncio.Lock()

    def placed(self, turn: PlacedTurn) -> None:
        """Start a turn; the ones before it are over."""
        if turn.index:
            self._writing.append(asyncio.create_task(self._write()))

    @asynccontextmanager
    async def during(self) -> AsyncIterator[None]:
        """The context of the call, which ends when everything is written.

        Raises:
            ComponentError: the disk is full, or the folder has gone.
        """
        try:
            yield
        finally:
            done = await asyncio.gather(*self._writing, return_exceptions=True)
        for error in done:
            if isinstance(error, BaseException):
                raise error

    async def _write(self) -> None:
        result = self._session.result()
        turns = turn_records(result, self._fixture, self._name, cold=self._cold)
        wav = self._writer.wav_of(self._name)
        session = session_record(result, self._fixture, name=self._name, wav=wav, cold=self._cold)
        async with self._one_by_one:
            with writing(self._writer.folder):
                # Writing must not delay the audio.
                await asyncio.to_thread(lambda: self._writer.keep(session, turns, result.stereo()))


def load_between(before: Load | None, after: Load | None, seconds: float) -> ServerLoad | None:
    """The server's cores and memory over a call of `seconds`; None if it is not our child."""
    if before is None or after is None or not seconds:
        return None
    return ServerLoad(
        cpu_cores=round((after.cpu_seconds - before.cpu_seconds) / seconds, 3),
        rss_mb=round(after.resident_bytes / 1e6, 1),
    )


def run_header(server: Server, command: Sequence[str], *, chaos: int | None = None) -> RunHeader:
    """The header of this run; `command` as it was typed, without keys, `chaos` the seed of injected faults."""
    status = server.status
    return RunHeader(
        created=datetime.now().astimezone().isoformat(timespec="seconds"),
        command=[redacted(argument) for argument in command],
        pipeline=status.get("pipeline", {}),
        components=status.get("components", {}),
        simulated=status.get("simulated", []),
        versions=status.get("versions", {}),
        chaos=chaos,
        commit=_commit(),
        host={
            "platform": platform.platform(),
            "python": platform.python_version(),
            "cpus": os.cpu_count(),
            "load_before": os.getloadavg()[0],
        },
    )


def _commit() -> str | None:
    """The commit of the current folder, for `latency history`; None outside of a Git repository."""
    try:
        command = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=5)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None
