"""`latency history`: the figures of earlier runs, oldest first, with their commits."""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from latency.baseline import BASELINES
from latency.command_line import FINE, NO_DATA, RUNS, USAGE, Parser, complain, did_you_mean, log_to_stderr, printing
from latency.record.json_form import to_json, visible
from latency.record.run import Run, RunError
from latency.report.checks import FIGURES, SHARES, Check

if TYPE_CHECKING:
    from latency.report.report import Report

FIGURES_SHOWN = ("turn p50", "turn p95", "answers_ok", "wer")


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """A run and some of its figures, to be listed or drawn."""

    run: str
    created: str
    commit: str | None
    pipeline: str
    played: dict[str, int]
    """The number of calls with each conversation."""
    simulated: tuple[str, ...]
    refused: bool
    """Whether its latencies are not credible; they are then None."""
    lacks: tuple[str, ...]
    """The parts that a run which is not whole lacks, and its status if it did not end."""
    figures: dict[str, float | None]
    """By their names in a check; None without data, and for a latency that falls on an unanswered turn."""


def main(argv: Sequence[str]) -> int:
    """List earlier runs and return the exit status: 0 fine, 2 bad usage, 3 no run."""
    parser = Parser(
        prog="latency history",
        description="List the figures of earlier runs, oldest first, with the commits of the folder that they ran in.",
        epilog="exit status: 0 fine, 2 bad usage, 3 no run",
    )
    parser.add_argument(
        "runs", nargs="*", type=Path, metavar="RUN", help="run folders (default: all in runs/ and baselines/)"
    )
    parser.add_argument(
        "--figure",
        action="append",
        metavar="NAME",
        help='a figure, as in a limit, such as "turn p95"; may be repeated (default: some of them)',
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--html", type=Path, metavar="FILE", help="also write a page with a plot of the figures")
    chosen = parser.parse_args(argv)
    log_to_stderr(verbose=chosen.verbose)
    names = [" ".join(name.split()) for name in chosen.figure or FIGURES_SHOWN]
    if unknown := [name for name in names if name not in FIGURES]:
        meant = did_you_mean(unknown[0], FIGURES) or '; write one as in a limit, such as "turn p95"'
        complain("latency", f'there is no figure "{unknown[0]}"{meant}')
        return USAGE
    folders = chosen.runs or [path.parent for root in (RUNS, BASELINES) for path in sorted(root.glob("[!.]*/run.json"))]
    entries = sorted(history(folders, names), key=lambda entry: entry.created)
    if not entries:
        where = "none of these folders holds a run" if chosen.runs else f"there is no run in {RUNS} or {BASELINES}"
        complain("latency", f"{where}; run `voice replay` first")
        return NO_DATA
    if chosen.html:
        try:
            _write_page(entries, chosen.html, ["latency", "history", *argv])
        except RunError as error:
            complain("latency", str(error))
            return error.exit_code
    with printing():
        if chosen.json:
            print(json.dumps([to_json(entry) for entry in entries], indent=2, ensure_ascii=False))
        else:
            _write(entries)
    return FINE


def history(folders: Sequence[Path], figures: Sequence[str]) -> Iterator[HistoryEntry]:
    """An entry for each run that can be read; the others are named on standard error."""
    # Imported now: numpy costs more than everything else here together.
    from latency.report.report import build

    for folder in folders:
        try:
            run = Run.load(folder)
            report = build(run)
        except RunError as error:
            complain("latency", f"left out: {error}")
            continue
        yield _entry(run, report, figures)


def _entry(run: Run, report: "Report", figures: Sequence[str]) -> HistoryEntry:
    judged = {name: Check.parse(f"{name} >= 0").judge(report).value for name in figures}
    return HistoryEntry(
        run=report.run,
        created=report.header.created,
        commit=report.header.commit,
        pipeline=visible(str(report.header.pipeline.get("name", ""))),
        played=dict(Counter(one.session.scenario or one.session.name for one in report.sessions)),
        simulated=report.simulated,
        refused=report.refused is not None,
        lacks=tuple(_lacks(run)),
        figures={name: value if value is not None and value < float("inf") else None for name, value in judged.items()},
    )


def _lacks(run: Run) -> Iterator[str]:
    """Remarks on a run that is not whole."""
    if run.status != "complete":
        yield run.status
    if run.incomplete_sessions:
        yield "turns lost"
    if run.recorded_until or run.unrecorded:
        yield "recording lost"


def _write(entries: Sequence[HistoryEntry]) -> None:
    from latency.render.layout import console_for, table

    headings, rows = _table(entries)
    console_for(sys.stdout).print(table(headings, rows, text=TEXT))


TEXT = ("run", "played", "remarks")
"""The columns of text."""


def _table(entries: Sequence[HistoryEntry]) -> tuple[list[str], list[list[str]]]:
    """Headings and rows."""
    from latency.render.numbers import UNKNOWN, percent

    def shown(name: str, value: float | None) -> str:
        if value is None:
            return UNKNOWN
        return percent(value) if name in SHARES or name == "wer" else f"{value:g}"

    figures = list(entries[0].figures)
    rows = []
    for entry in entries:
        played = ", ".join(f"{name} ×{n}" if n > 1 else name for name, n in list(entry.played.items())[:3])
        more = ", …" if len(entry.played) > 3 else ""
        remarks = [name for name, is_so in (("simulated", entry.simulated), ("refused", entry.refused)) if is_so]
        values = [shown(name, value) for name, value in entry.figures.items()]
        about = [entry.created[:16], entry.commit or UNKNOWN, entry.run, played + more]
        rows.append([*about, *values, ", ".join((*remarks, *entry.lacks))])
    return ["created", "commit", "run", "played", *figures, "remarks"], rows


def _write_page(entries: Sequence[HistoryEntry], path: Path, command: Sequence[str]) -> None:
    """Write a page with a plot of the latencies, and one of the shares, over the runs.

    Raises:
        RunError: It cannot be written.
    """
    from latency.page.document import document
    from latency.page.file import check_page, write_page
    from latency.page.results import LIMITS, Plot, Results, Section, Series, Table, made_by

    check_page(path)
    headings, rows = _table(entries)
    sections = [Section(title="Runs, oldest first", tables=[Table(headings=headings, rows=rows, text=TEXT)])]
    for title, y, are_shares in (("Latencies and counts", "ms, or number", False), ("Shares", "share", True)):
        series = [
            Series(
                name=name,
                points=[(n, value) for n, one in enumerate(entries, 1) if (value := one.figures[name]) is not None],
            )
            for name in entries[0].figures
            if (name in SHARES or name == "wer") is are_shares
        ]
        if any(one.points for one in series):
            limits = LIMITS if any(one.name.startswith(("turn", "answer")) for one in series) else ()
            plot = Plot(title=title, x="run", y=y, kind="line", series=series, limits=limits, limits_on="y")
            sections.append(Section(title=title, tables=[], plot=plot))
    simulated = any(one.simulated for one in entries)
    lines = [("Some of these runs rest on simulated parts", "magenta")] if simulated else []
    write_page(path, document(made_by(Results(title="History", head=lines, sections=sections), command)))
