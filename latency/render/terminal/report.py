"""A report for people: readable with colours in a terminal, and without them in a pipe or a log."""

from collections.abc import Iterator
from typing import TextIO

from rich.console import Console

from latency.judge.outcome import Outcome
from latency.render.terminal.console import console_for, is_unicode
from latency.render.terminal.headline import headline
from latency.render.terminal.histogram import histogram
from latency.render.terminal.llm_block import llm_lines, tier_table
from latency.render.terminal.method import conditions, method
from latency.render.terminal.numbers import UNKNOWN, count, ms, percent, things
from latency.render.terminal.tables import contribution_table, latency_table, worst_table
from latency.render.terminal.turn_table import turn_table
from latency.report.report import Report
from latency.report.speculation import Speculation


def write(report: Report, file: TextIO) -> None:
    """Write the whole report to a text stream; colours only when it is a terminal."""
    console, ascii_only = console_for(file), not is_unicode(file)
    for line, style in headline(report):
        console.print(line, style=style)
    for line in histogram([o.latency for o in _usual(report) if o.latency is not None], ascii_only=ascii_only):
        console.print(line, no_wrap=True)
    console.print()
    for line, style in turn_table(report, width=console.width, ascii_only=ascii_only):
        console.print(line, style=style, no_wrap=True, overflow="ignore")
    if report.has_latencies and not report.only_cold:
        console.print(latency_table(report, width=console.width))
        console.print(contribution_table(report, width=console.width, ascii_only=ascii_only))
    for table in (worst_table(report), tier_table(report.llm)):
        if table:
            console.print(table)
    for line in (*_figures(report), *conditions(report)):
        console.print(line)
    _verdicts(console, report)
    console.print()
    for line in method(report):
        console.print(line, style="dim")


def _usual(report: Report) -> list[Outcome]:
    return [o for o in report.outcomes if o.turn.wants_answer and not o.turn.cold and not o.turn.barge_in]


def _figures(report: Report) -> Iterator[str]:
    turns, quality, stop = report.turns, report.quality, report.barge_in
    unanswered = ", ".join(f"{reason} {n}" for reason, n in turns.unanswered.items())
    yield f"answers      {turns.answered} of {turns.expected} expected; unanswered: {unanswered or 'none'}"
    yield f"right        {_of(turns.answers_ok, report.scored)}; word error rate {percent(quality.wer)}"
    yield (
        f"cut-offs     {count(quality.cut_offs)}; {things(quality.pauses, 'pause')} inside turns, "
        f"of which taken for the end {percent(quality.false_cut_off_rate)}; gaps in bot speech {count(quality.gaps)}"
    )
    yield (
        f"barge-in     {stop.n}; bot silent after p50 {ms(stop.stop_p50_ms)}, p95 {ms(stop.stop_p95_ms)} ms; "
        f"false interruptions {count(stop.false)}"
    )
    yield from llm_lines(report.llm)
    if report.speculation.started or report.speculation.hints:
        yield _speculation(report.speculation)


def _speculation(ahead: Speculation) -> str:
    hints = "" if ahead.hints is None else f", at {things(ahead.hints, 'hint')}"
    spoken = f" ({ahead.spoken_ahead} of them synthesised ahead)" if ahead.spoken_ahead else ""
    saved = "" if ahead.saved_p50_ms is None else f"; first clause sooner by p50 {ms(ahead.saved_p50_ms)} ms"
    return (
        f"speculation  {things(ahead.started, 'answer')} begun ahead{hints}: {count(ahead.used)} used{spoken}, "
        f"{count(ahead.discarded)} discarded{saved}"
    )


def _verdicts(console: Console, report: Report) -> None:
    styles = {"passed": "green", "failed": "bold red", "no data": "yellow"}
    for item in report.thresholds:
        value = "" if item.value is None else f" (is {item.value:g})"
        why = f": {item.reason}" if item.reason else ""
        console.print(f"{item.verdict:<12} {item.expr}{value}{why}", style=styles[item.verdict])


def _of(part: int | None, whole: int) -> str:
    return UNKNOWN if part is None else f"{part} of {whole} of which a right answer is known"
