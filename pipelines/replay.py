"""`voice replay`: recorded conversations through a real server, in real time, into a run folder and a report."""

import argparse
import asyncio
import os
import platform
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path

from latency.cli import PASSED, RUNS, show
from latency.run import RunHeader, RunWriter, new_folder
from latency.session import Session
from latency.thresholds import Threshold, ThresholdError
from latency.turn import TurnRecord
from pipelines.child import Load, Server, health, own_server
from pipelines.progress import CallProgress, Progress
from voice.client.call_result import CallResult
from voice.client.fixture import Fixture, load_fixtures
from voice.client.line import PacedLine
from voice.client.scripted_caller import ScriptedCaller
from voice.client.session import CallSession
from voice.client.turns import session_entry, turn_records
from voice.errors import ConfigurationError, FixtureError

SAMPLES = Path(__file__).resolve().parent.parent / "samples"


def run_replay(args: argparse.Namespace) -> int:
    """Carry out the command; returns its exit status."""
    thresholds = parse_checks(args.check)
    fixtures = chosen_fixtures(args.fixtures, everything=args.all)
    writer = asyncio.run(_replay(args, fixtures))
    if writer is None:
        return 130
    return show(writer.folder, thresholds)


def parse_checks(expressions: Sequence[str]) -> list[Threshold]:
    """The limits of `--check`, before anything runs.

    Raises:
        ConfigurationError: one cannot be understood.
    """
    try:
        return [Threshold.parse(expression) for expression in expressions]
    except ThresholdError as error:
        raise ConfigurationError(str(error)) from error


def chosen_fixtures(paths: Sequence[str], *, everything: bool) -> list[Fixture]:
    """What to replay: the user's own, all samples, or the tour.

    Raises:
        FixtureError: something cannot be used.
    """
    if paths:
        return load_fixtures(paths)
    if not SAMPLES.is_dir():
        raise FixtureError("The sample conversations are not installed here; name a recording: voice replay my.wav")
    if everything:
        return load_fixtures([SAMPLES])
    tour = (SAMPLES / "tour.txt").read_text(encoding="utf-8").split()
    return load_fixtures([SAMPLES / name for name in tour])


@asynccontextmanager
async def server_for(args: argparse.Namespace, progress: Progress) -> AsyncIterator[Server]:
    """The server that `--url` names, or one of our own."""
    if args.url:
        yield Server(args.url, await health(args.url))
        return
    with progress.starting():
        context = own_server(args.pipeline, args.overrides, log=None)
        server = await context.__aenter__()
    try:
        yield server
    finally:
        await context.__aexit__(*sys.exc_info())


async def _replay(args: argparse.Namespace, fixtures: Sequence[Fixture]) -> RunWriter | None:
    progress = Progress(calls=len(fixtures) * args.repeat)
    for fixture in fixtures:
        for notice in fixture.notices:
            progress.note(notice)
    async with server_for(args, progress) as server:
        progress.serving(server.status)
        folder = Path(args.out) if args.out else None
        header = run_header(server, sys.argv)
        writer = RunWriter(folder or new_folder(RUNS, header), header=header)
        stop = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, stop.set)
        cold = True
        try:
            for round_ in range(args.repeat):
                for fixture in fixtures:
                    name = f"{fixture.name}-{round_ + 1}" if args.repeat > 1 else fixture.name
                    shown = progress.call(name)
                    await one_call(server, fixture, name, writer, shown, stop, cold=cold, listen=args.listen)
                    cold = False
                    if stop.is_set():
                        return None
        finally:
            writer.finish("interrupted" if stop.is_set() else "complete", load_after=os.getloadavg()[0])
            progress.saved(writer.folder)
        return writer


async def one_call(
    server: Server,
    fixture: Fixture,
    name: str,
    writer: RunWriter,
    progress: CallProgress,
    stop: asyncio.Event,
    *,
    cold: bool,
    listen: bool,
) -> None:
    """Replay one fixture; whatever happens, what was recorded is written.

    Raises:
        ComponentError: the server could not be reached or was not ready.
    """
    line = PacedLine(ScriptedCaller(fixture.turns), tap=listen_in() if listen else None)
    session = CallSession(server.url, line, listener=progress)
    progress.result = session.result
    before = server.load()
    calling = asyncio.create_task(session.run())
    stopping = asyncio.create_task(stop.wait())
    try:
        with progress:
            await asyncio.wait({calling, stopping}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (calling, stopping):
            task.cancel()
        await asyncio.gather(calling, stopping, return_exceptions=True)
        save(session.result(), fixture, name, writer, cold=cold, load=(before, server.load()))
    if not calling.cancelled():
        calling.result()


def save(
    result: CallResult,
    fixture: Fixture,
    name: str,
    writer: RunWriter,
    *,
    cold: bool,
    load: tuple[Load | None, Load | None],
) -> None:
    """Write a call's turns, recording and facts into the run folder."""
    if not result.seconds:
        return
    entry = session_entry(result, fixture, name, cold=cold)
    writer.add_turns(TurnRecord.from_json(turn) for turn in turn_records(result, fixture, name, cold=cold))
    writer.write_session_wav(name, result.stereo())
    writer.add_session(Session.from_json({**entry, "server": load_between(*load, result.seconds)}))


def load_between(before: Load | None, after: Load | None, seconds: float) -> dict[str, float] | None:
    """The server's cores and memory over a call of `seconds`; None when it is not our child."""
    if before is None or after is None:
        return None
    return {
        "cpu_cores": round((after.cpu_seconds - before.cpu_seconds) / seconds, 3),
        "rss_mb": round(after.resident_bytes / 1e6, 1),
    }


def run_header(server: Server, command: Sequence[str]) -> RunHeader:
    """What this run is."""
    status = server.status
    return RunHeader(
        created=datetime.now().astimezone().isoformat(timespec="seconds"),
        command=list(command),
        pipeline=status.get("pipeline", {}),
        components=status.get("components", {}),
        simulated=status.get("simulated", []),
        versions=status.get("versions", {}),
        host={
            "platform": platform.platform(),
            "python": platform.python_version(),
            "cpus": os.cpu_count(),
            "load_before": os.getloadavg()[0],
        },
    )
