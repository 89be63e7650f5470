"""`latency compare`: two saved runs, the differences between their turns, and a verdict."""

import filecmp
import os
import sys
from argparse import ArgumentTypeError
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from latency.baseline import run_or_baseline
from latency.command_line import FAILED, FINE, NO_DATA, RUNS, Parser, complain, log_to_stderr, printing
from latency.page.file import check_page, write_page
from latency.record.run import Run, RunError, newest


def main(argv: Sequence[str]) -> int:
    """Compare two runs and return the exit status: 0 fine, 1 B is slower, 2 bad usage or not a run, 3 no data."""
    parser = Parser(
        prog="latency compare",
        description="Compare the same turns of two runs: latency, its stages, words and right answers.",
        epilog="exit status: 0 faster, or not enough to tell, 1 B is slower, 2 bad usage or not a run, 3 no data: no "
        "turn in common, too few turns, or a run that is refused",
    )
    parser.add_argument(
        "a", type=_run_name, metavar="A", help="run folder, or the name of a baseline (see `latency baseline`)"
    )
    parser.add_argument("b", nargs="?", type=_run_name, metavar="B", help="the same (default: the newest run in runs/)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--html", type=Path, metavar="FILE", help="also write a page of the tables and a plot")
    chosen = parser.parse_args(argv)
    log_to_stderr(verbose=chosen.verbose)
    try:
        a = run_or_baseline(chosen.a)
        b = run_or_baseline(chosen.b) if chosen.b else newest(RUNS)
    except RunError as error:
        complain("latency", str(error))
        return error.exit_code
    return show_comparison(a, b, as_json=chosen.json, html=chosen.html)


def show_comparison(
    a: Path, b: Path, *, as_json: bool = False, html: Path | None = None, program: str = "latency"
) -> int:
    """Print the comparison of two run folders, and return the exit status, as `main` does.

    Args:
        a: The run before the change.
        b: The run after it.
        as_json: Print JSON.
        html: The file of a page to write as well.
        program: The command's name, for errors.
    """
    # Imported now: numpy and the terminal library cost more than everything else here together.
    from latency.compare.comparison import compare
    from latency.render import comparison as render
    from latency.report.report import build

    try:
        check_page(html)
        if os.path.realpath(a) == os.path.realpath(b):
            raise RunError(f"{a} is compared with itself; name two runs")
        # One after the other: msgspec 0.22 crashes when two threads meet a type for the first time.
        runs = [Run.load(folder) for folder in (a, b)]
        if _are_copies(*runs):
            raise RunError(f"{a} and {b} are copies of one run; name two runs")
        with ThreadPoolExecutor(2) as pool:
            found = compare(*pool.map(build, runs))
        if html:
            from latency.page.document import document
            from latency.page.results import of_comparison

            write_page(html, document(of_comparison(found)))
    except RunError as error:
        complain(program, str(error))
        return error.exit_code
    with printing(program):
        if as_json:
            print(render.text(found))
        else:
            render.write(found, sys.stdout)
    if not render.has_interval(found):
        complain(program, render.sentence(found))
        return NO_DATA
    return FAILED if found.verdict == "slower" else FINE


def _run_name(text: str) -> str:
    if not text:
        raise ArgumentTypeError("takes the name of a run or baseline, not an empty text")
    return text


def _are_copies(a: Run, b: Run) -> bool:
    """Whether both are the same run, as a baseline is of the run that it was saved from."""
    if (a.header, a.sessions, a.turns) != (b.header, b.sessions, b.turns):
        return False
    names = [session.wav for session in a.sessions if session.wav]
    return not any(filecmp.cmpfiles(a.folder, b.folder, names, shallow=False)[1])
