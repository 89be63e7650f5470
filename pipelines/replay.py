"""`voice replay`: recorded conversations through a real server, in real time, into a run folder and a report."""

import argparse
import asyncio
import os
import platform
import sys
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from latency.cli import RUNS, show
from latency.run import RunHeader, RunWriter, Status, new_folder
from latency.session import Session
from latency.thresholds import Threshold, ThresholdError
from latency.turn import TurnError, TurnRecord
from pipelines.child import Load, Server, health, own_server
from pipelines.progress import CallProgress, Progress
from voice.client.call_result import CallResult
from voice.client.fixture import Fixture, load_fixtures
from voice.client.line import PacedLine
from voice.client.monitor import Monitor
from voice.client.scripted_caller import ScriptedCaller
from voice.client.session import CallSession
from voice.client.turns import session_entry, turn_records
from voice.errors import ConfigurationError, FixtureError

SAMPLES = Path(__file__).resolve().parent.parent / "samples"


def run_replay(args: argparse.Namespace) -> int:
    """Carry out the command; returns its exit status."""
    thresholds = parse_checks(args.check)
    fixtures = chosen_fixtures(args.fixtures, everything=args.all)
    folder = asyncio.run(_replay(args, fixtures))
    return show(folder, thresholds)


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
    with progress.starting() as started:
        async with own_server(args.pipeline, args.overrides) as server:
            started()
            yield server


async def _replay(args: argparse.Namespace, fixtures: Sequence[Fixture]) -> Path:
    """Returns the run folder, which is complete and readable however the replay ends."""
    progress = Progress(calls=len(fixtures) * args.repeat)
    for fixture in fixtures:
        for notice in fixture.notices:
            progress.note(notice)
    async with server_for(args, progress) as server:
        progress.serving(server.status)
        header = run_header(server, sys.argv[1:])
        writer = RunWriter(Path(args.out) if args.out else new_folder(RUNS, header), header=header)
        rounds = [(fixture, round_) for round_ in range(args.repeat) for fixture in fixtures]
        groups = Counter(fixture.group for fixture in fixtures)
        status: Status = "interrupted"
        try:
            for number, (fixture, round_) in enumerate(rounds):
                # A file with a single conversation needs no second name.
                name = fixture.group if groups[fixture.group] == 1 and fixture.group else fixture.name
                if args.repeat > 1:
                    name = f"{name}-{round_ + 1}"
                shown = progress.call(name)
                await one_call(server, fixture, name, writer, shown, cold=not (number or args.url), listen=args.listen)
            status = "complete"
        finally:
            writer.finish(status, load_after=os.getloadavg()[0])
            progress.saved(writer.folder)
    return writer.folder


async def one_call(
    server: Server,
    fixture: Fixture,
    name: str,
    writer: RunWriter,
    progress: CallProgress,
    *,
    cold: bool,
    listen: bool,
) -> None:
    """Replay one fixture; whatever happens, what was recorded is written.

    Raises:
        ComponentError: the server could not be reached or was not ready.
    """
    monitor = Monitor() if listen else None
    line = PacedLine(
        ScriptedCaller(fixture.turns),
        tap=monitor.play if monitor else None,
        user_tap=monitor.hear if monitor else None,
    )
    session = CallSession(server.url, line, listener=progress)
    progress.result = session.result
    before = server.load()
    try:
        if monitor:
            monitor.open()
        with progress:
            await session.run()
    finally:
        if monitor:
            monitor.close()
        load = load_between(before, server.load(), session.result().seconds)
        save(session.result(), fixture, name, writer, cold=cold, load=load)


def save(
    result: CallResult, fixture: Fixture, name: str, writer: RunWriter, *, cold: bool, load: dict[str, float] | None
) -> None:
    """Write a call's turns, recording and facts into the run folder; a call that never began leaves nothing."""
    if not result.seconds:
        return
    wav = writer.write_session_wav(name, result.stereo())
    writer.add_turns(record(turn) for turn in turn_records(result, fixture, name, cold=cold))
    writer.add_session(Session.from_json(session_entry(result, fixture, name=name, wav=wav, cold=cold, server=load)))


def record(turn: dict[str, Any]) -> TurnRecord:
    """The record of a turn; instants with which a server contradicts itself are dropped and named, not the turn."""
    try:
        return TurnRecord.from_json(turn)
    except TurnError as error:
        said = f"the server's instants were dropped ({error})"
        failed = f"{turn['failed']}; {said}" if turn.get("failed") else said
        return TurnRecord.from_json(turn | {"marks": {}, "server_turns": [], "attempts": [], "failed": failed})


def load_between(before: Load | None, after: Load | None, seconds: float) -> dict[str, float] | None:
    """The server's cores and memory over a call of `seconds`; None when it is not our child."""
    if before is None or after is None or not seconds:
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
        command=["voice", *command],
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
