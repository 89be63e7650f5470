"""`voice load`: checks the arguments, makes the calls, and prints the figures."""

import argparse
import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from latency.command_line import FAILED, FINE, MISSING, NO_DATA, RUNS, complain, printing
from latency.page.document import document
from latency.page.file import check_page, write_page
from latency.page.results import of_load
from latency.record.load_test import FILE, ObservedLoad, ServerSample
from latency.record.run import Run, RunError, Status
from latency.record.run_writer import RunWriter, new_folder
from latency.report.checks import Check
from pipelines.load.callers import Callers
from pipelines.replaying.progress import Progress
from pipelines.replaying.replay import check_server, chosen_fixtures, parse_checks, server_for
from pipelines.replaying.run_folder import check_folder, run_header, writing
from pipelines.server_process import seen_here
from voice.client.fixtures.fixture import Fixture
from voice.errors import ConfigurationError

LOOK_EVERY = 1.0
"""Seconds between two readings of the server's processor time and memory, which take 30 ms with eight calls."""


def run_load(args: argparse.Namespace) -> int:
    """Run the command; returns its exit status.

    Raises:
        ConfigurationError, ComponentError: an argument is wrong, or the server cannot be started.
    """
    thresholds = parse_checks(args.check)
    check_server(args)
    check_folder(args.out)
    try:
        check_page(args.html)
    except RunError as error:
        raise ConfigurationError(f"{error}.") from error
    fixtures = chosen_fixtures(args.fixtures, everything=False)
    folder = asyncio.run(_load(args, fixtures))
    return _show(folder, thresholds, as_json=args.json, html=args.html)


async def _load(args: argparse.Namespace, fixtures: Sequence[Fixture]) -> Path:
    """Returns the run folder, which is readable however the calls end."""
    progress = Progress(calls=0)
    async with server_for(args, progress) as given:
        server = seen_here(given)
        progress.serving(server.status)
        header = run_header(server, ["voice", *sys.argv[1:]])
        with writing(Path(args.out) if args.out else RUNS):
            writer = RunWriter(Path(args.out) if args.out else new_folder(RUNS, header), header=header)
        samples: list[ServerSample] = []
        callers = Callers(server, fixtures, writer, time.monotonic(), not args.url, _say)
        used = time.process_time()
        status: Status = "interrupted"
        try:
            async with _watching(callers, samples):
                await callers.all(args.callers, ramp=args.ramp, repeat=args.repeat)
            status = "complete"
        finally:
            observed = ObservedLoad(
                callers=args.callers,
                ramp=args.ramp,
                seconds=round(time.monotonic() - callers.began, 3),
                generator_cpu_seconds=round(time.process_time() - used, 3),
                calls=tuple(callers.calls),
                server=tuple(samples),
            )
            _finish(writer, observed, status=status)
    progress.saved(writer.folder)
    return writer.folder


def _finish(writer: RunWriter, observed: ObservedLoad, *, status: Status) -> None:
    with writing(writer.folder):
        observed.save(writer.folder)
        writer.finish(status, load_after=os.getloadavg()[0])


@asynccontextmanager
async def _watching(callers: Callers, samples: list[ServerSample]) -> AsyncIterator[None]:
    """Record the server's resources, from before the first call to after the last one."""

    async def look() -> None:
        load = await asyncio.to_thread(callers.server.load)
        if load is not None:
            samples.append(
                ServerSample(
                    at=round(time.monotonic() - callers.began, 3),
                    calls=callers.under_way,
                    cpu_seconds=round(load.cpu_seconds, 3),
                    rss_mb=round(load.resident_bytes / 1e6, 1),
                )
            )

    async def watch() -> None:
        while True:
            await look()
            await asyncio.sleep(LOOK_EVERY)

    await look()
    watching = asyncio.create_task(watch())
    try:
        yield
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
        await look()


def _show(folder: Path, thresholds: Sequence[Check], *, as_json: bool, html: Path | None = None) -> int:
    """Print the tables; returns the exit status."""
    from latency.render.load_test import text, write
    from latency.report.report import build

    try:
        report = build(Run.load(folder), thresholds)
    except RunError as error:
        complain("voice", _without_turns(folder) or str(error))
        return MISSING if _has_failures(folder) else error.exit_code
    assert report.load is not None
    if html:
        write_page(html, document(of_load(report, report.load)))
    with printing("voice"):
        if as_json:
            print(text(report, report.load))
        else:
            write(report, report.load, sys.stdout)
    verdicts = {item.verdict for item in report.thresholds}
    if "failed" in verdicts:
        return FAILED
    if report.load.failed:
        complain("voice", f"{sum(report.load.failed.values())} calls failed: {next(iter(report.load.failed))}")
        return MISSING
    return NO_DATA if "no data" in verdicts or report.refused or report.is_unanswered else FINE


def _without_turns(folder: Path) -> str | None:
    """Why no call left a turn, in a sentence; None if unknown."""
    observed = ObservedLoad.read(folder)
    reasons = [call.refused or call.failed for call in observed.calls] if observed else []
    why = next(filter(None, reasons), None)
    return f"no call was held, so there is nothing to report: {why} ({folder / FILE})" if why else None


def _has_failures(folder: Path) -> bool:
    observed = ObservedLoad.read(folder)
    return observed is not None and any(call.failed for call in observed.calls)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
