"""`voice replay`: plays recorded conversations to a real server in real time, records the run and prints its report."""

import argparse
import asyncio
import os
import sys
import time
import webbrowser
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from pathlib import Path

from latency.baseline import baseline_for
from latency.cli import show
from latency.command_line import RUNS, complain
from latency.compare_command import show_comparison
from latency.record.run import RunError, Status
from latency.record.run_writer import RunWriter, new_folder
from latency.render.numbers import plural
from latency.report.checks import Check, CheckError
from pipelines.auto import resolve
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
PAGE = "report.html"
"""The name of a run's page in its folder."""
SIDES = "ab"
"""The names of the run folders of `--ab` inside `--out`."""


def run_replay(args: argparse.Namespace) -> int:
    """Run the command; returns its exit status."""
    thresholds = parse_checks(args.check, has_baseline=True)
    baseline = _baseline(thresholds, args.baseline)
    check_server(args)
    if args.chaos is not None and args.url is not None:
        raise ConfigurationError("--chaos works only with a server that the command starts; leave out --url.")
    if args.ab:
        _check_alternating(args)
    for out in [f"{args.out}/{side}" for side in SIDES] if args.ab and args.out else [args.out]:
        check_folder(out)
    fixtures = chosen_fixtures(args.fixtures, everything=args.all)
    folders = asyncio.run(_replay(args, fixtures))
    if args.ab:
        return show_comparison(*folders, program="voice")
    if not args.open:
        return show(folders[0], thresholds, baseline=baseline, program="voice")
    page = folders[0] / PAGE
    status = show(folders[0], thresholds, baseline=baseline, html=page, audio=True, program="voice")
    if page.is_file() and not webbrowser.open(page.resolve().as_uri()):
        complain("voice", f"there is no browser to open {page} with; open it elsewhere")
    return status


def parse_checks(expressions: Sequence[str], *, has_baseline: bool = False) -> list[Check]:
    """The limits given with `--check`.

    Args:
        expressions: the limits.
        has_baseline: whether a limit may depend on a baseline.

    Raises:
        ConfigurationError: a limit is invalid.
    """
    try:
        checks = [Check.parse(expression) for expression in expressions]
    except CheckError as error:
        raise ConfigurationError(str(error)) from error
    if not has_baseline and (relative := next((check.expr for check in checks if check.is_relative), None)):
        raise ConfigurationError(
            f'"{relative}" needs a baseline, which only `voice replay` and `latency report` take (--baseline).'
        )
    return checks


def _baseline(checks: Sequence[Check], name: str | None) -> Path | None:
    try:
        return baseline_for(checks, name)
    except RunError as error:
        raise ConfigurationError(str(error)) from error


def _check_alternating(args: argparse.Namespace) -> None:
    """Refuse options that do not go with --ab, and wrong settings of either pipeline."""
    given = {
        "--url": args.url,
        "--pipeline": args.pipeline != AUTO,
        "--chaos": args.chaos is not None,
        "--check": args.check,
        "--open": args.open,
    }
    if refused := [option for option, value in given.items() if value]:
        raise ConfigurationError(f"{refused[0]} cannot be combined with --ab, which names two pipelines to compare.")
    for side, given_side in zip(SIDES.upper(), args.ab, strict=True):
        pipeline, *own = given_side.split(",")
        for setting in own:
            if not setting.strip():
                raise ConfigurationError(f"{side} ({pipeline}): a comma is followed by no setting; leave it out.")
            if not setting.partition("=")[0].strip() or "=" not in setting:
                raise ConfigurationError(f'{side} ({pipeline}): a setting is KEY=VALUE, not "{setting}".')
        try:
            resolve(pipeline, [*args.overrides, *own])
        except ConfigurationError as error:
            raise ConfigurationError(f"{side} ({pipeline}): {error}") from error


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
    async with _started(args.pipeline, args.overrides, progress) as server:
        yield server


@asynccontextmanager
async def _started(pipeline: str, overrides: Sequence[str], progress: Progress) -> AsyncIterator[Server]:
    with progress.starting() as started:
        async with own_server(pipeline, overrides) as server:
            started()
            yield server


@asynccontextmanager
async def _servers(args: argparse.Namespace, progress: Progress) -> AsyncIterator[list[Server]]:
    """The servers to call: one, or both pipelines of `--ab`."""
    async with AsyncExitStack() as stack:
        if not args.ab:
            yield [await stack.enter_async_context(server_for(args, progress))]
            return
        sides = [side.split(",") for side in args.ab]
        yield [
            await stack.enter_async_context(_started(pipeline, [*args.overrides, *own], progress))
            for pipeline, *own in sides
        ]


async def _replay(args: argparse.Namespace, fixtures: Sequence[Fixture]) -> list[Path]:
    progress = progress_of(fixtures, args.repeat * (2 if args.ab else 1))
    async with _servers(args, progress) as servers:
        for side, server in zip(SIDES.upper(), servers, strict=False):
            progress.serving(server.status, side=side if args.ab else "")
        return await record(args, fixtures, servers, progress, program="voice", cold=args.fresh or not args.url)


def progress_of(fixtures: Sequence[Fixture], times: int) -> Progress:
    """The display of calls with these fixtures, which begins with what the user should know of them."""
    progress = Progress(calls=len(fixtures) * times)
    for notice in dict.fromkeys(notice for fixture in fixtures for notice in fixture.notices):
        progress.note(notice)
    return progress


async def record(
    args: argparse.Namespace,
    fixtures: Sequence[Fixture],
    servers: Sequence[Server],
    progress: Progress,
    *,
    program: str,
    cold: bool = False,
    agent: Callable[[], AgentCall] | None = None,
) -> list[Path]:
    """Call each server with each fixture, and write a run for each.

    Two servers take turns, conversation by conversation, and each conversation begins with the other one when it is
    repeated, so that a drift of the machine is the same for both.

    Args:
        args: `out`, `repeat`, `listen` and `chaos` of the command line.
        fixtures: what the caller says, call by call.
        servers: one agent, or two to compare.
        progress: shows the calls.
        program: the command's name.
        cold: whether the servers had no call before.
        agent: makes the call to an agent whose own reports are not wanted; None for a pipecat server.

    Returns:
        The run folder of each server, which is readable however the calls end.
    """
    several = len(servers) > 1
    parts = None if args.chaos is None else parts_of(servers[0].status)
    writers = []
    for side, server in zip(SIDES, servers, strict=False):
        out = args.out and (Path(args.out) / side if several else Path(args.out))
        header = run_header(server, [program, *sys.argv[1:]], chaos=args.chaos)
        with writing(out or RUNS):
            writers.append(RunWriter(out or new_folder(RUNS, header), header=header))
    sides = list(zip(SIDES, servers, writers, strict=False))
    rounds = [
        (round_, fixture, side)
        for round_ in range(args.repeat)
        for number, fixture in enumerate(fixtures)
        for side in (sides if (round_ + number) % 2 == 0 else reversed(sides))
    ]
    groups = Counter(fixture.group for fixture in fixtures)
    status: Status = "interrupted"
    fresh = {writer.folder for writer in writers if cold}
    try:
        for round_, fixture, (side, server, writer) in rounds:
            # A single conversation in a file takes the file's name.
            name = fixture.group if groups[fixture.group] == 1 and fixture.group else fixture.name
            if args.repeat > 1:
                name = f"{name}-{round_ + 1}"
            shown = progress.call(f"{name} {side.upper()}" if several else name)
            faults = None if parts is None else schedule(args.chaos, name, len(fixture.turns), parts)
            is_cold = writer.folder in fresh
            fresh -= {writer.folder}
            await one_call(
                server,
                fixture,
                name,
                writer,
                shown,
                cold=is_cold,
                listen=args.listen,
                faults=faults,
                agent=agent() if agent else None,
            )
        status = "complete"
    finally:
        for writer in writers:
            with writing(writer.folder):
                if writer.is_empty:
                    writer.discard()
                else:
                    writer.finish(status, load_after=os.getloadavg()[0])
                    progress.saved(writer.folder)
    return [writer.folder for writer in writers]


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
    progress.result, progress.is_by_ear = session.result, agent is not None
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
        reason = result.closed.rstrip(".") + left
        raise ComponentError(f"The call ended early: {reason}{'' if reason.endswith('?') else '.'}")
