"""The report's tables of figures: latencies, what they are made of, and the turns that took longest."""

from rich import box
from rich.table import Table

from latency.judge.explain import slowest_stage, worst
from latency.render.terminal.numbers import UNKNOWN, ms
from latency.report.report import Report
from latency.report.stats import INTERVAL, Distribution, Interval

BAR = 28
"""Widest bar of a stage, characters."""
NARROW, LEFT_OUT = 80, ("p90", "p99")
"""Characters of a line below which these have no room."""
SHORTEST_BAR, BESIDE_BARS = 8, 62
"""The same in a narrow terminal, and what stands beside the bars: names, figures and the note."""


def latency_table(report: Report, *, width: int = 120) -> Table:
    """Each latency's percentiles; with the intervals they lie in, as far as there are enough turns for any.

    Args:
        report: The run.
        width: Characters in a line; in a narrow one p90 and p99 are left out.
    """
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
    beside = f" [{INTERVAL} %]" if any(one.p50_ci or one.p95_ci for _, one in rows) else ""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    is_narrow = width < NARROW
    headings = ("ms", "n", f"p50{beside}", "p90", f"p95{beside}", "p99", "max", "<= 400", "<= 800")
    for heading in headings:
        if is_narrow and heading in LEFT_OUT:
            continue
        # Where a terminal is narrow, names give way: a figure that is cut is none.
        is_name = heading == "ms"
        table.add_column(heading, justify="left" if is_name else "right", no_wrap=not is_name, overflow="fold")
    for name, one in rows:
        p50, p95 = _with(one.p50, one.p50_ci), _with(one.p95, one.p95_ci)
        percentiles = [p50, p95, ms(one.max)] if is_narrow else [p50, ms(one.p90), p95, ms(one.p99), ms(one.max)]
        table.add_row(name, str(one.n), *percentiles, str(one.within_400), str(one.within_800))
    return table


def contribution_table(report: Report, *, width: int = 120, ascii_only: bool = False) -> Table:
    """What the user waited for; the medians as bars, the longest one marked; `width` in characters."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("where the time goes, ms", "n", "p50", "p95"):
        table.add_column(heading, justify="right" if heading != "where the time goes, ms" else "left", no_wrap=True)
    table.add_column("p50 of what the user waits for")
    room = max(SHORTEST_BAR, min(BAR, width - BESIDE_BARS))
    slowest = slowest_stage(report)
    longest = max((spread.p50 or 0.0 for spread in report.contributions_ms.values()), default=0.0)
    for key, spread in report.contributions_ms.items():
        if key == "tier_hold" and not spread.p95:
            # Only a policy over several models ever holds one.
            continue
        bar = ("#" if ascii_only else "█") * round(room * (spread.p50 or 0.0) / longest) if longest else ""
        note = "  slowest stage" if key == slowest and longest else ""
        table.add_row(key.replace("_", " "), str(spread.n), ms(spread.p50), ms(spread.p95), bar + note)
    return table


def worst_table(report: Report) -> Table | None:
    """The slowest turns and why; None when no turn was answered."""
    found = worst(report)
    if not found:
        return None
    several = len(report.sessions) > 1
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("turn", no_wrap=True)
    table.add_column(f"the slowest {len(found)}, and why" if len(found) > 1 else "why it took so long")
    for outcome, why in found:
        turn = outcome.turn
        table.add_row(f"{turn.session} {turn.turn}" if several else str(turn.turn), why)
    return table


def _with(value: float | None, interval: Interval | None) -> str:
    if value is None:
        return UNKNOWN
    return ms(value) if interval is None else f"{ms(value)} [{ms(interval[0])}-{ms(interval[1])}]"
