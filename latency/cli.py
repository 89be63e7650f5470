"""The `latency` command: it reports runs, and calls other packages' registered commands."""

import importlib
import logging
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from latency.baseline import baseline_for
from latency.command_line import (
    FAILED,
    FINE,
    INTERRUPTED,
    MISSING,
    NO_DATA,
    RUNS,
    USAGE,
    Parser,
    complain,
    log_to_stderr,
    no_command,
    printing,
    unusable,
)
from latency.page.file import check_page, write_page
from latency.record.run import Run, RunError, newest
from latency.report.checks import Check, CheckError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from latency.report.report import Report

COMMANDS = "latency.commands"
"""Entry-point group: a command's name and its `main(argv) -> int`, imported when it is called."""
BUILT_IN = {
    "turn": ("latency.turn_command", "show one turn on a time axis, and cut out its audio"),
    "fixtures": ("latency.fixtures_command", "make recordings to replay from turns marked as bad"),
    "selftest": ("latency.selftest.command", "recover gaps that are hidden in synthetic recordings"),
    "compare": ("latency.compare_command", "compare the same turns of two runs, with a verdict"),
    "baseline": ("latency.baseline", "keep runs under a name to compare later ones with"),
    "history": ("latency.history", "list the figures of earlier runs with their commits"),
}
"""Our own commands besides the report: the module whose `main(argv) -> int` is called, and a summary."""
log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status: 0 fine, 1 a check failed, 2 bad usage, 3 no data.

    A run whose latencies are refused, or in which no turn was answered, has no data; if no turn was answered because a
    component failed, the status is 4.

    Raises:
        SystemExit: For `--help` and `--version` (0) and for arguments that are refused (2).
    """
    try:
        return _run(sys.argv[1:] if argv is None else argv)
    except KeyboardInterrupt:
        return _refuse("interrupted", INTERRUPTED)
    except OSError as error:
        return unusable(error, "latency")


def _run(argv: Sequence[str]) -> int:
    first = next((index for index, word in enumerate(argv) if not word.startswith("-")), len(argv))
    leading, rest = list(argv[:first]), list(argv[first:])
    if not rest:
        parser = _parser(with_registered=True)
        parser.parse_args(leading)
        parser.print_help(sys.stderr)
        return USAGE
    # An option before the command counts as one of the command's.
    name, arguments = rest[0], [*leading, *rest[1:]]
    if name != "report" and name not in BUILT_IN:
        if name not in (commands := _commands()):
            return _refuse(no_command(name, ["report", *BUILT_IN, *sorted(commands)]), USAGE)
        return int(commands[name].load()(arguments))
    # A third of numpy's start would go into matrix threads, which this program does not use.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if name == "report":
        return _report(arguments)
    return int(importlib.import_module(BUILT_IN[name][0]).main(arguments))


def show(
    folder: Path,
    checks: Sequence[Check] = (),
    *,
    baseline: Path | None = None,
    as_json: bool = False,
    as_csv: bool = False,
    trace: Path | None = None,
    html: Path | None = None,
    audio: bool = False,
    refused_is_no_data: bool = False,
    spoken_live: bool = False,
    program: str = "latency",
) -> int:
    """Print a run's report on standard output and return its exit status, as `main` does.

    Args:
        checks: Limits on the run.
        baseline: The run folder that limits may depend on.
        as_json: Print JSON.
        as_csv: Print a table with a row for each turn.
        trace: Also write the run to this file in Chrome's trace event format.
        html: Also write the run to this file as a page.
        audio: Whether the page has the audio of the turns.
        refused_is_no_data: Whether a run with refused latencies counts as one without data even without a check of a
            latency.
        spoken_live: Whether a person spoke, who may leave a call before it is answered; otherwise a run without an
            answered turn has no data, whatever the checks say, or a component that failed.
        program: The command's name, with which its error messages begin.
    """
    # Imported now: numpy and the terminal library cost more than everything else here together.
    from latency.compare.comparison import warnings
    from latency.report.report import build

    started = time.monotonic()
    try:
        check_page(html)
        run = Run.load(folder)
        other = None if baseline is None else build(Run.load(baseline))
        report = build(run, checks, other)
        if other is not None:
            report = replace(report, notes=(*report.notes, *warnings(other, report)))
        log.debug("%s read and measured in %.0f ms", folder, (time.monotonic() - started) * 1000)
        if trace:
            _write_trace(report, trace)
        if html:
            _write_page(run, report, html, audio=audio)
    except RunError as error:
        return _refuse(str(error), error.exit_code, program)
    verdicts = {item.verdict for item in report.thresholds}
    with printing(program):
        _print(report, as_json=as_json, as_csv=as_csv)
    if "failed" in verdicts:
        return FAILED
    if checks and run.lost:
        return _refuse(f"limits are not judged by a part of a run, and {run.lost}; replay again", NO_DATA, program)
    if report.is_unanswered and not spoken_live:
        return _unanswered(report, program)
    if refused_is_no_data and report.refused and not report.thresholds:
        return _refuse(f"the latencies of {folder} are no data: {report.refused}", NO_DATA, program)
    return NO_DATA if "no data" in verdicts else FINE


def _unanswered(report: "Report", program: str) -> int:
    """Print why no turn of a run was answered; returns the exit status."""
    from latency.judge.turn import Unanswered

    failed = next((one.turn.failed for one in report.outcomes if one.unanswered is Unanswered.FAILED), None)
    if failed:
        return _refuse(f"no turn of {report.run} was answered: {failed.rstrip('.')}", MISSING, program)
    reasons = ", ".join(f"{reason} ({count})" for reason, count in report.turns.unanswered.items())
    known = "is known to have been answered" if report.turns.lost else "was answered"
    return _refuse(f"no turn of {report.run} {known}: {reasons}", NO_DATA, program)


def _report(arguments: Sequence[str]) -> int:
    chosen = _parser().parse_args(["report", *arguments])
    log_to_stderr(verbose=chosen.verbose)
    if chosen.audio and not chosen.html:
        return _refuse("--audio puts the audio into a page; name its file with --html", USAGE)
    if chosen.html and chosen.trace and os.path.realpath(chosen.html) == os.path.realpath(chosen.trace):
        return _refuse("--html and --trace name the same file; name two", USAGE)
    try:
        checks = [Check.parse(expr) for expr in chosen.check]
        baseline = baseline_for(checks, chosen.baseline)
        folder = chosen.run or newest(RUNS)
    except CheckError as error:
        return _refuse(str(error), USAGE)
    except RunError as error:
        return _refuse(str(error), error.exit_code)
    return show(
        folder,
        checks,
        baseline=baseline,
        as_json=chosen.json,
        as_csv=chosen.csv,
        trace=chosen.trace,
        html=chosen.html,
        audio=chosen.audio,
        refused_is_no_data=True,
    )


def _parser(*, with_registered: bool = False) -> Parser:
    parser = Parser(
        prog="latency",
        description="The latency of a conversation's turns, measured in its recording.",
        epilog="exit status: 0 fine, 1 a check failed, 2 bad usage, 3 no data, 4 a component is missing or failed, "
        "130 interrupted",
    )
    parser.add_version()
    report = parser.add_command(
        "report",
        "print the figures of a run",
        epilog="exit status: 0 fine, 1 a check failed, 2 bad usage or not a run, 3 no data: no run, none for a check, "
        "no turn answered, or a run that is refused, 4 no turn answered because a component failed",
    )
    report.add_argument("run", nargs="?", type=Path, metavar="RUN", help="run folder (default: the newest in runs/)")
    form = report.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument("--csv", action="store_true", help="print a table for spreadsheets, one row for each turn")
    report.add_argument(
        "--trace", type=Path, metavar="FILE", help="also write a trace for ui.perfetto.dev or chrome://tracing"
    )
    report.add_argument("--html", type=Path, metavar="FILE", help="also write a page to look at in a browser, offline")
    report.add_argument("--audio", action="store_true", help="put the audio of the turns into the page")
    report.add_argument(
        "--check",
        action="append",
        default=[],
        metavar="EXPR",
        help='a limit, such as "turn p95 < 800" or "cut_offs == 0"; may be repeated',
    )
    report.add_argument(
        "--baseline", metavar="NAME", help='what "baseline" in a limit means, as in "turn p50 <= 1.05 * baseline"'
    )
    for name, (_, what) in BUILT_IN.items():
        parser.add_command(name, what)
    if with_registered:
        for name, what in _summaries():
            parser.add_command(name, what)
    return parser


def _print(report: "Report", *, as_json: bool, as_csv: bool) -> None:
    if as_json:
        from latency.render.as_json import text

        print(text(report))
    elif as_csv:
        from latency.render import as_csv as table

        sys.stdout.write(table.text(report))
    else:
        from latency.render.report import write

        write(report, sys.stdout)


def _write_trace(report: "Report", path: Path) -> None:
    from latency.report.trace import text, trace, write_trace

    spoken = {one.session.name: one.spoken for one in report.sessions if one.recorded}
    write_trace(path, text(trace(report, spoken)))
    print(f"trace written to {path}; open it at https://ui.perfetto.dev", file=sys.stderr)


def _write_page(run: Run, report: "Report", path: Path, *, audio: bool) -> None:
    from latency.page.document import document, sounds_of
    from latency.page.record import page_of

    started = time.monotonic()
    sounds = sounds_of(report, run.recording) if audio else ()
    write_page(path, document(page_of(report, run.recording), sounds))
    log.debug("page made in %.0f ms", (time.monotonic() - started) * 1000)


def _commands() -> "dict[str, EntryPoint]":
    # Reading the metadata of every installed package takes longer than a report.
    from importlib.metadata import entry_points

    return {command.name: command for command in entry_points(group=COMMANDS)}


def _summaries() -> Iterator[tuple[str, str]]:
    """The registered commands, each with the first line of its function's docstring."""
    for name, command in sorted(_commands().items()):
        try:
            summary = (command.load().__doc__ or "").strip().partition("\n")[0].rstrip(".")
        except (ImportError, AttributeError) as error:
            summary = f"cannot be loaded: {error}"
        yield name, f"{summary[:1].lower()}{summary[1:]}".replace("%", "%%")


def _refuse(message: str, status: int, program: str = "latency") -> int:
    complain(program, message)
    return status
