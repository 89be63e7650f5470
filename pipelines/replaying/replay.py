"""`voice replay`: plays recorded conversations to a real server in real time, records the run and prints its report."""

import argparse
import asyncio
import os
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path

from latency.cli import show
from latency.command_line import RUNS
from latency.record.run import Status
from latency.record.run_writer import RunWriter, new_folder
from latency.render.numbers import plural
from latency.report.checks import Check, CheckError
from pipelines.replaying.chaos import Fault, parts_of, schedule
from pipelines.replaying.injection import Injector
from pipelines.replaying.progress import CallProgress, Progress
from pipelines.replaying.run_folder import PartialCallWriter, check_folder, load_between, run_header, save, writing
from pipelines.samples import SAMPLES, installed
from pipelines.server_process import Server, health, own_server
from voice.client.call.agent_call import AgentCall
from voice.client.call.connection import check_url
from voice.client.call.line import PacedLine
from voice.client.call.session import CallSession
from voice.client.caller.scripted_caller import ScriptedCaller
from voice.client.fixtures.fixture import Fixture, load_fixtures
from voice.client.sound.monitor import Monitor
from voice.errors import ComponentError, ConfigurationError

AUTO = "auto"


def run_replay(args: argparse.Namespace) -> int:
    """Run the command; returns its exit status."""
    thresholds = parse_checks(args.check)
    check_server(args)
    if args.chaos is not None and args.url is not None:
        raise ConfigurationError("--chaos works only with a server that the command starts; leave out --url.")
    check_folder(args.out)
    fixtures = chosen_fixtures(args.fixtures, everything=args.all)
    folder = asyncio.run(_replay(args, fixtures))
    return show(folder, thresholds, program="voice")


def parse_checks(expressions: Sequence[str]) -> list[Check]:
    """The limits given with `--check`.

    Raises:
        ConfigurationError: a limit is invalid.
    """
    try:
        return [Check.parse(expression) for expression in expressions]
    except CheckError as error:
        raise ConfigurationError(str(error)) from error


def chosen_fixtures(paths: Sequence[str], *, everything: bool) -> list[Fixture]:
    """The fixtures to replay: the user's own, all samples, or the tour.

    Raises:
        FixtureError: a fixture cannot be used.
    """
    if paths:
        return load_fixtures(paths)
    samples = installed(SAMPLES)
    if everything:
        return load_fixtures([samples])
    tour = (samples / "tour.txt").read_text(encoding="utf-8").split()
    return load_fixtures([samples / name for name in tour])


def check_server(args: argparse.Namespace) -> None:
    """Refuse a server that cannot be called, before anything runs.

    Raises:
        ConfigurationError: `--url` is not an address, or comes with settings that its server would not receive.
    """
    if args.url is None:
        return
    check_url(args.url)
    if args.overrides or args.pipeline != AUTO:
        raise ConfigurationError(
            "--pipeline and --set cannot be used with --url: that server already has its settings."
        )


@asynccontextmanager
async def server_for(args: argparse.Namespace, progress: Progress) -> AsyncIterator[Server]:
    """The server at `--url`, or one that is started here."""
    if args.url is not None:
        yield Server(args.url, await health(args.url))
        return
    with progress.starting() as started:
        async with own_server(args.pipeline, args.overrides) as server:
            started()
            yield server


async def _replay(args: argparse.Namespace, fixtures: Sequence[Fixture]) -> Path:
    progress = progress_of(fixtures, args.repeat)
    async with server_for(args, progress) as server:
        progress.serving(server.status)
        return await record(args, fixtures, server, progress, program="voice", cold=args.fresh or not args.url)


def progress_of(fixtures: Sequence[Fixture], repeat: int) -> Progress:
    """The display of calls with these fixtures, which begins with what the user should know of them."""
    progress = Progress(calls=len(fixtures) * repeat)
    for notice in dict.fromkeys(notice for fixture in fixtures for notice in fixture.notices):
        progress.note(notice)
    return progress


async def record(
    args: argparse.Namespace,
    fixtures: Sequence[Fixture],
    server: Server,
    progress: Progress,
    *,
    program: str,
    cold: bool = False,
    agent: Callable[[], AgentCall] | None = None,
) -> Path:
    """Call a server with each fixture, and write a run.

    Args:
        args: `out`, `repeat`, `listen` and `chaos` of the command line.
        fixtures: what the caller says, call by call.
        server: the agent.
        progress: shows the calls.
        program: the command's name.
        cold: whether the server had no call before.
        agent: makes the call to an agent whose own reports are not wanted; None for a pipecat server.

    Returns:
        The run folder, which is readable however the calls end.
    """
    parts = None if args.chaos is None else parts_of(server.status)
    header = run_header(server, [program, *sys.argv[1:]], chaos=args.chaos)
    with writing(Path(args.out) if args.out else RUNS):
        writer = RunWriter(Path(args.out) if args.out else new_folder(RUNS, header), header=header)
    rounds = [(fixture, round_) for round_ in range(args.repeat) for fixture in fixtures]
    groups = Counter(fixture.group for fixture in fixtures)
    status: Status = "interrupted"
    try:
        for number, (fixture, round_) in enumerate(rounds):
            # A single conversation in a file takes the file's name.
            name = fixture.group if groups[fixture.group] == 1 and fixture.group else fixture.name
            if args.repeat > 1:
                name = f"{name}-{round_ + 1}"
            shown = progress.call(name)
            faults = None if parts is None else schedule(args.chaos, name, len(fixture.turns), parts)
            await one_call(
                server,
                fixture,
                name,
                writer,
                shown,
                cold=cold and not number,
                listen=args.listen,
                faults=faults,
                agent=agent() if agent else None,
            )
        status = "complete"
    finally:
        with writing(writer.folder):
            if writer.is_empty:
                writer.discard()
            else:
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
    faults: Sequence[Fault | None] | None = None,
    agent: AgentCall | None = None,
) -> None:
    """Replay one fixture; the recording so far is written even if the call fails.

    `faults`, one or None for each turn, are injected into the call, which may then end early. `agent`: see `record`.

    Raises:
        ComponentError: the server could not be reached, was not ready or ended the call, or the disk is full.
    """
    monitor = Monitor() if listen else None
    line = PacedLine(
        ScriptedCaller(fixture.turns),
        tap=monitor.play if monitor else None,
        user_tap=monitor.hear if monitor else None,
    )
    session = CallSession(server.url, line, listener=progress, agent=agent)
    progress.result = session.result
    under_way = PartialCallWriter(session, fixture, name, writer, cold=cold)
    progress.placed.append(under_way.placed)
    injector = None
    if faults is not None and server.process is not None:
        injector = Injector(
            faults,
            server=server.process,
            cut=session.cut,
            now=lambda: time.monotonic() - line.origin,
            announce=progress.fault,
        )
        progress.placed.append(injector.placed)
    before = server.load()
    try:
        if monitor:
            monitor.open()
        with progress:
            async with under_way.during(), injector.during() if injector else nullcontext():
                await session.run()
    finally:
        if monitor:
            monitor.close()
        load = load_between(before, server.load(), session.result().seconds)
        with writing(writer.folder):
            injected = tuple(injector.injected) if injector else ()
            save(session.result(), fixture, name, writer, cold=cold, load=load, injected=injected)
    result = session.result()
    if result.closed and not injector:
        unsent = len(fixture.turns) - len(result.reached)
        left = f" ({unsent} of {plural(len(fixture.turns), 'turn')} not sent)" if unsent else ""
        raise ComponentError(f"The call ended early: {result.closed}{left}.")
