"""A report for people: readable with colours in a terminal, and without them in a pipe or a log."""

from collections.abc import Iterator
from io import TextIOWrapper
from typing import TextIO

from rich import box
from rich.console import Console
from rich.table import Table

from latency.onset import AUDIBLE_DB
from latency.outcome import Outcome
from latency.render.histogram import histogram
from latency.render.llm_block import llm_lines, tier_table
from latency.render.numbers import UNKNOWN, count, ms, percent
from latency.render.turn_table import turn_table
from latency.report import RESIDUAL_FLAG_MS, Report
from latency.scoring import NORMALISER
from latency.stats import METHOD, P99_NEEDS, Distribution

PIPE_WIDTH = 120


def write(report: Report, file: TextIO) -> None:
    """Write the whole report to a text stream; colours only when it is a terminal."""
    width = None if file.isatty() else PIPE_WIDTH
    if isinstance(file, TextIOWrapper) and not _unicode(file):
        # What was heard and said may hold any letter.
        file.reconfigure(errors="replace")
    console = _Console(file=file, width=width, markup=False, emoji=False, highlight=False)
    _headline(console, report)
    for line in histogram([o.latency for o in _usual(report) if o.latency is not None], ascii_only=not _unicode(file)):
        console.print(line, no_wrap=True)
    console.print(turn_table(report))
    console.print(_latency_table(report))
    console.print(_contribution_table(report))
    if tiers := tier_table(report.llm):
        console.print(tiers)
    for line in _figures(report):
        console.print(line)
    _verdicts(console, report)
    console.print()
    for line in _method(report):
        console.print(line, style="dim")


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave a reader that has gone to the caller; rich would exit with status 1 whatever the verdict."""
        raise


def _headline(console: Console, report: Report) -> None:
    console.print(f"Turnaround: {report.run}", style="bold")
    if report.simulated:
        console.print(f"SIMULATED, not real: {', '.join(report.simulated)}", style="bold magenta")
    for complaint in report.pacing.complaints:
        console.print(f"DO NOT TRUST THESE LATENCIES: {complaint}", style="bold red")
    for note in report.notes:
        console.print(f"note: {note}", style="yellow")
    turn, turns = report.turn_ms, report.turns
    console.print()
    console.print(
        f"Turn latency  p50 {ms(turn.p50)}  p95 {ms(turn.p95)}  max {ms(turn.max)} ms; "
        f"{turn.within_800} of {turn.n} turns within 800 ms; {turns.answered} of {turns.expected} answered",
        style="bold",
    )
    if report.llm.phrases:
        answer = report.answer_ms
        console.print(
            f"First answer  p50 {ms(answer.p50)}  p95 {ms(answer.p95)}  max {ms(answer.max)} ms; "
            f"{answer.within_800} of {answer.n} within 800 ms: a phrase that bridges a wait is no answer",
            style="bold",
        )


def _usual(report: Report) -> list[Outcome]:
    return [o for o in report.outcomes if o.turn.wants_answer and not o.turn.cold and not o.turn.barge_in]


def _latency_table(report: Report) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("ms", "n", "p50", "p90", "p95", "p99", "max", "<= 400", "<= 800"):
        table.add_column(heading, justify="left" if heading == "ms" else "right", no_wrap=True)
    # Only where a phrase may come before the answer is the first audio anything else than the answer's.
    budgeted = bool(report.llm.policies)
    rows: list[tuple[str, Distribution]] = [
        ("turn latency (first audio)" if budgeted else "turn latency", report.turn_ms),
        ("  taken for complete at once", report.turn_ms_detected_complete),
        ("  waited for the fallback", report.turn_ms_fallback),
        ("first answer audio", report.answer_ms),
        *([("whole answer", report.whole_answer_ms)] if budgeted and report.whole_answer_ms.n else []),
        ("cold turns (apart)", report.turn_ms_cold),
        ("barge-in turns (apart)", report.turn_ms_barge_in),
    ]
    for name, one in rows:
        percentiles = [ms(value) for value in (one.p50, one.p90, one.p95, one.p99, one.max)]
        table.add_row(name, str(one.n), *percentiles, str(one.within_400), str(one.within_800))
    return table


def _contribution_table(report: Report) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("where the time goes, ms", "n", "p50", "p95"):
        table.add_column(heading, justify="right" if heading != "where the time goes, ms" else "left", no_wrap=True)
    for key, spread in report.contributions_ms.items():
        if key == "tier_hold" and not spread.p95:
            # Only a policy over several models ever holds one.
            continue
        table.add_row(key.replace("_", " "), str(spread.n), ms(spread.p50), ms(spread.p95))
    return table


def _figures(report: Report) -> Iterator[str]:
    turns, quality, stop = report.turns, report.quality, report.barge_in
    unanswered = ", ".join(f"{reason} {n}" for reason, n in turns.unanswered.items())
    yield f"answers      {turns.answered} of {turns.expected} expected; unanswered: {unanswered or 'none'}"
    yield f"right        {_of(turns.answers_ok, report.scored)}; word error rate {percent(quality.wer)}"
    yield (
        f"cut-offs     {count(quality.cut_offs)}; {count(quality.pauses)} pauses inside turns, "
        f"of which taken for the end {percent(quality.false_cut_off_rate)}; gaps in bot speech {count(quality.gaps)}"
    )
    yield (
        f"barge-in     {stop.n}; bot silent after p50 {ms(stop.stop_p50_ms)}, p95 {ms(stop.stop_p95_ms)} ms; "
        f"false interruptions {count(stop.false)}"
    )
    yield from llm_lines(report.llm)
    ahead = report.speculation
    if ahead.started:
        yield (
            f"speculation  {ahead.started} started, {ahead.discarded} discarded; "
            f"head start p50 {ms(ahead.saved_p50_ms)} ms"
        )
    left = report.residual_ms
    yield (
        "residual     unknown (no clock alignment or marks missing)"
        if left is None
        else (
            f"residual     p50 {ms(left.p50)}, p95 {ms(left.p95)} ms over {left.n} turns; "
            f"{left.flagged} above {RESIDUAL_FLAG_MS:g} ms"
        )
    )
    pacing = report.pacing
    yield (
        "pacing       unknown"
        if pacing.ok is None
        else (
            f"pacing       {'ok' if pacing.ok else 'BAD'}: {pacing.late_over_20ms} of {pacing.frames} frames over "
            f"20 ms late, worst {ms(pacing.late_max_ms)} ms, clock ratio {pacing.clock_ratio or UNKNOWN}"
        )
    )
    if servers := [session.session.server for session in report.sessions if session.session.server]:
        cores = [server["cpu_cores"] for server in servers if "cpu_cores" in server]
        memory = [server["rss_mb"] for server in servers if "rss_mb" in server]
        yield (
            f"server       {sum(cores) / len(cores):.2f} CPU cores in the average call, {max(cores):.2f} in the "
            f"busiest; at most {max(memory):.0f} MB resident"
        )
    if report.components:
        yield "components   " + "; ".join(f"{part}: {name}" for part, name in report.components.items())


def _verdicts(console: Console, report: Report) -> None:
    styles = {"passed": "green", "failed": "bold red", "no data": "yellow"}
    for item in report.thresholds:
        value = "" if item.value is None else f" (is {item.value:g})"
        console.print(f"{item.verdict:<12} {item.expr}{value}", style=styles[item.verdict])


def _method(report: Report) -> Iterator[str]:
    estimated = sum(outcome.turn.truth == "estimated" for outcome in report.outcomes)
    yield (
        f"Method: {report.turns.total} turns. Turn latency runs from the {report.truth} end of the user's speech to "
        f"the first audible bot sample (above {AUDIBLE_DB:g} dBFS, sustained) in what the client played; "
        "cold and barge-in turns are kept apart."
        + (f" {estimated} of the turns have no label: their end of speech is estimated." if estimated else "")
    )
    yield (
        f"Percentiles by {METHOD}; p99 from {P99_NEEDS} samples on. Answers and word error rate compare words "
        f"({NORMALISER}). Real-time pacing is checked: more than 2 % late frames or 0.1 % clock drift spoil a run."
    )


def _unicode(file: TextIO) -> bool:
    return (getattr(file, "encoding", None) or "utf-8").lower().startswith("utf")


def _of(part: int | None, whole: int) -> str:
    return UNKNOWN if part is None else f"{part} of {whole} that say what a right answer contains"
