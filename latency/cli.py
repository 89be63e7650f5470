"""The `latency` command: reports here, everything that drives a pipeline in the packages that register it."""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from latency.record.run import Run, RunError, newest
from latency.report.thresholds import Threshold, ThresholdError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from latency.report.report import Report

PASSED, FAILED, USAGE, NO_DATA = 0, 1, 2, 3
COMMANDS = "latency.commands"
"""Entry-point group: a command's name and its `main(argv) -> int`, imported when it is called."""
BUILT_IN = {
    "turn": ("latency.turn_command", "show one turn on a time axis, and cut out its audio"),
    "selftest": ("latency.selftest.command", "recover gaps that were hidden in made recordings"),
}
"""Commands of our own beside the report: the module whose `main(argv) -> int` is called, and what it does."""
RUNS = Path("runs")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status: 0 fine, 1 a check failed, 2 bad usage, 3 no data.

    The latencies of a refused run are no data.

    Args:
        argv: Arguments after the program's name; those of the process when None.

    Raises:
        SystemExit: As argparse does, for `--help` (0) and for arguments it refuses (2).
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments and arguments[0] in BUILT_IN:
        module = importlib.import_module(BUILT_IN[arguments[0]][0])
        return int(module.main(arguments[1:]))
    if arguments and arguments[0] != "report" and not arguments[0].startswith("-"):
        return _registered(arguments[0], arguments[1:])
    parser = _parser(with_commands=not arguments or arguments[0] in ("-h", "--help"))
    chosen = parser.parse_args(arguments)
    if chosen.command is None:
        parser.print_help(sys.stderr)
        return USAGE
    try:
        thresholds = [Threshold.parse(expr) for expr in chosen.check]
    except ThresholdError as error:
        return _complain(str(error), USAGE)
    try:
        folder = chosen.run or newest(RUNS)
    except RunError as error:
        return _complain(str(error), error.exit_code)
    return show(folder, thresholds, as_json=chosen.json, as_csv=chosen.csv, trace=chosen.trace, refused_is_no_data=True)


def show(
    folder: Path,
    thresholds: Sequence[Threshold] = (),
    *,
    as_json: bool = False,
    as_csv: bool = False,
    trace: Path | None = None,
    refused_is_no_data: bool = False,
) -> int:
    """Print a run's report on standard output and return the exit status that it deserves, as `main` does.

    Args:
        folder: The run.
        thresholds: Held against it.
        as_json: Print JSON.
        as_csv: Print a table with a row a turn.
        trace: Also write the run there in Chrome's trace event format.
        refused_is_no_data: Whether a run whose latencies cannot be believed counts as one without data even when no
            threshold asks for any.
    """
    # A third of numpy's start would go into threads for matrices, of which there are none here.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Imported now: numpy and the terminal library cost more than everything else here together.
    from latency.report.report import build

    try:
        run = Run.load(folder)
        report = build(run, thresholds)
        if trace:
            _write_trace(run, report, trace)
    except RunError as error:
        return _complain(str(error), error.exit_code)
    verdicts = {item.verdict for item in report.thresholds}
    try:
        _print(report, as_json=as_json, as_csv=as_csv)
    except BrokenPipeError:
        # The reader had enough (`| head`): the verdict stands, and the interpreter must not flush at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if "failed" in verdicts:
        return FAILED
    if refused_is_no_data and report.refused and not report.thresholds:
        return _complain(f"the latencies of {folder} are no data: {report.refused}", NO_DATA)
    return NO_DATA if "no data" in verdicts else PASSED


def _parser(*, with_commands: bool) -> argparse.ArgumentParser:
    others = sorted(_commands()) if with_commands else []
    parser = argparse.ArgumentParser(
        prog="latency",
        description="What a conversation's turns cost, from its recording.",
        epilog=f"more commands: {', '.join(others)}" if others else None,
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    report = commands.add_parser(
        "report",
        help="print the figures of a run",
        description="Print the figures of a run.",
        epilog="exit status: 0 fine, 1 a check failed, 2 bad usage or not a run, 3 no data: no run, none for a check, "
        "or a run that is refused",
    )
    report.add_argument("run", nargs="?", type=Path, metavar="RUN", help="run folder; the newest in ./runs by default")
    form = report.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument("--csv", action="store_true", help="print a table for spreadsheets, a row a turn")
    report.add_argument(
        "--trace", type=Path, metavar="FILE", help="also write a trace that ui.perfetto.dev and chrome://tracing open"
    )
    report.add_argument(
        "--check",
        action="append",
        default=[],
        metavar="EXPR",
        help='a limit, such as "turn p95 < 800" or "cut_offs == 0"; may be repeated',
    )
    for name, (_, what) in BUILT_IN.items():
        commands.add_parser(name, help=what)
    return parser


def _print(report: "Report", *, as_json: bool, as_csv: bool) -> None:
    if as_json:
        from latency.render.as_json import text

        print(text(report))
    elif as_csv:
        from latency.render import as_csv as table

        sys.stdout.write(table.text(report))
    else:
        from latency.render.terminal.report import write

        write(report, sys.stdout)
    sys.stdout.flush()


def _write_trace(run: Run, report: "Report", path: Path) -> None:
    from latency.audio.onset import as_floats, utterances
    from latency.audio.recording import RATE
    from latency.report.trace import text, trace, write_trace

    recordings = {one.session.name: run.recording(one.session) for one in report.sessions}
    spoken = {
        name: utterances(as_floats(stereo[:, 1]), RATE) for name, stereo in recordings.items() if stereo is not None
    }
    write_trace(path, text(trace(report, spoken)))
    print(f"trace written to {path}; open it at https://ui.perfetto.dev", file=sys.stderr)


def _registered(name: str, arguments: Sequence[str]) -> int:
    commands = _commands()
    if name not in commands:
        return _complain(f'there is no command "{name}"; there is {_known(commands)}', USAGE)
    return int(commands[name].load()(arguments))


def _known(commands: "dict[str, EntryPoint]") -> str:
    return ", ".join(["report", *BUILT_IN, *sorted(commands)])


def _commands() -> "dict[str, EntryPoint]":
    # Reading the metadata of every installed package takes longer than a report.
    from importlib.metadata import entry_points

    return {command.name: command for command in entry_points(group=COMMANDS)}


def _complain(sentence: str, status: int) -> int:
    print(f"latency: {sentence}", file=sys.stderr)
    return status
