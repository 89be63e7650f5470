"""The results of a measurement as a page of tables and plots: a load test, a benchmark and a comparison of two runs.

The history and the lab add their own.
"""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from latency.benchmark.benchmark import Benchmark
from latency.benchmark.tables import TEXT_COLUMNS, about_llm, head, notes, tables
from latency.budget import NATURAL, TURN_LIMIT
from latency.compare.comparison import Comparison
from latency.render import comparison, load_test
from latency.render.layout import LABEL
from latency.render.method import conditions
from latency.report.load_test import LoadFigures
from latency.report.report import Report

LIMITS = (NATURAL * 1000, TURN_LIMIT * 1000)
_STYLES = {"SIMULATED": "magenta", "NOT COMPLETE": "red", "REFUSED": "red"}
"""Styles of lines, by their first words."""


class Table(Struct, frozen=True, kw_only=True):
    """A table; cells are as in a terminal."""

    title: str = ""
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    text: Sequence[str] = ()
    """The headings of columns that hold text and not figures."""


class Series(Struct, frozen=True, kw_only=True):
    """What a plot draws in one colour."""

    name: str
    points: Sequence[tuple[float, float]]
    labels: Sequence[str] = ()
    """Names of the points; none without them."""


class Plot(Struct, frozen=True, kw_only=True):
    """A plot."""

    title: str
    x: str
    """What an axis shows, with its unit."""
    y: str
    kind: Literal["steps", "line", "dots"]
    series: Sequence[Series]
    limits: Sequence[float] = ()
    """Values to draw a line at, on the axis of latencies."""
    limits_on: Literal["x", "y"] = "x"


class Section(Struct, frozen=True, kw_only=True):
    """Figures that belong together."""

    title: str
    tables: Sequence[Table]
    plot: Plot | None = None
    lines: Sequence[str] = ()


class Results(Struct, frozen=True, kw_only=True):
    """A page of results."""

    title: str
    head: Sequence[tuple[str, str]]
    """Lines and their styles."""
    sections: Sequence[Section]
    notes: Sequence[str] = ()


def styled(lines: Iterable[str]) -> list[tuple[str, str]]:
    """Lines of a result, each with the style that its first words ask for."""
    return [(line, next((style for word, style in _STYLES.items() if line.startswith(word)), "")) for line in lines]


def in_one_line(line: str) -> str:
    """A line with a label, as a terminal shows it, as running text."""
    return f"{line[:LABEL].strip()}: {' '.join(line[LABEL:].split())}"


def made_by(results: Results, command: Sequence[str]) -> Results:
    """The page with the time and the command at its head."""
    at = datetime.now().astimezone().isoformat(timespec="seconds")
    return replace(results, head=[*results.head, (f"Made {at}: {shlex.join(command)}", "")])


def _run(report: Report) -> str:
    """The time, the commit and the command of a run, and the limits of its evidence."""
    header = report.header
    commit = f", commit {header.commit}" if header.commit else ""
    command = f": {shlex.join(header.command)}" if header.command else ""
    rests_on = f". Rests on {', '.join(report.rests_on)}" if report.rests_on else ""
    return f"{header.created}{commit}{command}{rests_on}"


_CONDITIONS = ("host", "components", "versions")
"""The labels of a run's conditions that the page of a load test shows."""


def of_load(report: Report, figures: LoadFigures) -> Results:
    """A load test."""
    lines = [f"SIMULATED, not real: {', '.join(report.simulated)}"] if report.simulated else []
    if report.refused:
        lines.append(f"REFUSED: {report.refused}")
    lines.append(f"Made {_run(report)}")
    by_caller, at_once = (Table(headings=headings, rows=rows) for headings, rows in load_test.tables(figures))
    points = [(one.calls, one.tally.turn_ms) for one in figures.by_calls_at_once]
    series = [
        Series(name=name, points=[(calls, value) for calls, times in points if (value := getattr(times, key))])
        for key, name in (("p50", "median"), ("p95", "95th percentile"))
    ]
    plot = Plot(
        title="Turn latency by calls at once",
        x="calls at once",
        y="turn latency, ms",
        kind="line",
        series=series,
        limits=LIMITS,
        limits_on="y",
    )
    sections = [
        Section(title="By the number of calls at once", tables=[at_once], plot=plot),
        Section(title="By caller", tables=[by_caller]),
    ]
    about = [line for line in conditions(report) if line[:LABEL].strip() in _CONDITIONS]
    told = [in_one_line(line) for line in (*load_test.lines(figures), *about)]
    return Results(title=f"Load test: {report.run}", head=styled(lines), sections=sections, notes=told)


def of_benchmark(benchmark: Benchmark) -> Results:
    """A benchmark: for each language model the agents' tables and the distributions of their latencies."""
    title, *lines = head(benchmark)
    sections = [
        Section(title=about_llm(llm), tables=list(_tables(benchmark, llm)), plot=_distributions(benchmark, llm))
        for llm in benchmark.llms
    ]
    return Results(title=title, head=styled(lines), sections=sections, notes=list(notes(benchmark)))


def of_comparison(found: Comparison) -> Results:
    """Two runs compared, with the distributions of the latencies of the turns of both."""
    lines = [
        (" ".join(line.removeprefix("Compared").split()), style.removeprefix("bold "))
        for line, style in comparison.headline(found)
        if line
    ]
    timed = [one for one in found.pairing.pairs if one.apart is None]
    sides = {f"A: {found.a.run}": [one.a for one in timed], f"B: {found.b.run}": [one.b for one in timed]}
    plot = _answered_by_then(
        _shares(name, [one.latency for one in outcomes if not one.is_unanswered], len(outcomes))
        for name, outcomes in sides.items()
    )
    tables = [
        Table(headings=headings, rows=rows, text=headings[:1])
        for headings, rows in comparison.tables(found, is_wide=True)
    ]
    section = Section(title="Differences, B minus A", tables=tables, plot=plot)
    told = [" ".join(line.split()) for line in comparison.notes(found)]
    told += [f"{side}: {_run(report)}" for side, report in (("A", found.a), ("B", found.b))]
    return Results(title="Two runs compared", head=lines, sections=[section], notes=told)


def _tables(benchmark: Benchmark, llm: str) -> Iterator[Table]:
    for title, headings, rows in tables(benchmark, llm):
        yield Table(title=title, headings=headings, rows=rows, text=TEXT_COLUMNS)


def _distributions(benchmark: Benchmark, llm: str) -> Plot:
    tallies = [(row.variant, row.tally) for row in benchmark.rows if row.llm == llm]
    return _answered_by_then(
        _shares(name, tally.latencies.values(), len(tally.latencies) + len(tally.unanswered)) for name, tally in tallies
    )


def _answered_by_then(series: Iterable[Series]) -> Plot:
    return Plot(
        title="Share of the turns answered by then",
        x="turn latency, ms",
        y="share of turns, %",
        kind="steps",
        series=list(series),
        limits=LIMITS,
    )


def _shares(name: str, latencies: Iterable[float | None], total: int) -> Series:
    """The share of `total` turns that were answered within each latency, percent."""
    timed = sorted(at for at in latencies if at is not None)
    points = [(round(at * 1000, 1), round(100 * n / total, 2)) for n, at in enumerate(timed, 1)]
    return Series(name=name, points=[(0.0, 0.0), *points])
