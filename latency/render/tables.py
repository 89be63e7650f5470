"""The report's tables of figures: latencies, their stages, and the slowest turns."""

from collections.abc import Iterator

from rich.table import Table

from latency.render.layout import table
from latency.render.numbers import ms, statistic
from latency.report.explain import worst
from latency.report.report import Report
from latency.report.stats import INTERVAL, Distribution, Interval

BAR, SHORTEST_BAR = 28, 8
"""Characters of the longest bar, in a wide terminal and in a narrow one."""
NARROW = 78
"""In narrower lines, percentiles between p50 and p95 and the work of a stage are left out."""
BESIDE_BARS = 69
"""Characters next to the bars: a stage's name, its figures and its work."""

STAGES = {
    "endpointing_wait": "the silence that ends a turn",
    "transcription": "the recogniser's last words",
    "turn_detection": "deciding the turn is over",
    "llm_inference": "the model's first token",
    "tool": "a tool that ran",
    "sentence_aggregation": "a clause to be spoken",
    "tier_hold": "waiting for a better tier",
    "speech_synthesis": "the voice's first sample",
    "output_transport": "sending its first samples",
    "playout": "network, jitter buffer",
    "pipeline": "no stage accounts for it",
}
"""The work on which each stage spends its time."""


def latency_table(report: Report, *, width: int = 120) -> Table:
    """The percentiles of each measured latency; in a narrow line p90 is left out."""
    rows = [(name, one) for name, one in _latencies(report) if one.total]
    middle = [] if width < NARROW else ["p90"]
    # Only a large run has a p99.
    last = ["p99"] if any(one.p99 is not None for _, one in rows) else []
    # Unanswered turns have no latency and count as later than any.
    unanswered = ["no answer"] if any(one.unanswered for _, one in rows) else []
    headings = ("latency, ms", "n", *unanswered, "p50", *middle, "p95", *last, "max", "<= 400", "<= 800")
    return table(
        headings,
        [
            (
                name,
                str(one.n),
                *(str(one.unanswered) for _ in unanswered),
                *(statistic(one, key) for key in ("p50", *middle, "p95", *last, "max")),
                str(one.within_400),
                str(one.within_800),
            )
            for name, one in rows
        ],
        text=headings[:1],
    )


def interval_lines(report: Report) -> Iterator[str]:
    """The intervals of the percentiles that have one, a line for each latency."""
    for name, one in _latencies(report):
        if one.p50_ci and one.p95_ci and (name == "turn" or one != report.turn_ms):
            yield f"{INTERVAL} % intervals of {name.strip()}: p50 {_from_to(one.p50_ci)}, p95 {_from_to(one.p95_ci)} ms"


def contribution_table(report: Report, *, width: int = 120) -> Table:
    """The parts of the wait, with the medians as bars; `width` in characters."""
    room = max(SHORTEST_BAR, min(BAR, width - BESIDE_BARS))
    longest = max((spread.p50 or 0.0 for spread in report.contributions_ms.values()), default=0.0)
    rows = []
    for key, spread in report.contributions_ms.items():
        if key == "tier_hold" and not spread.p95:
            # Only a policy over several tiers holds a clause.
            continue
        bar = "█" * round(room * (spread.p50 or 0.0) / longest) if longest else ""
        rows.append((key.replace("_", " "), str(spread.n), ms(spread.p50), ms(spread.p95), bar, STAGES[key]))
    headings = ("stage, ms", "n", "p50", "p95", "p50 as a bar", "spent on")
    shown = len(headings) - (width < NARROW)
    return table(headings[:shown], [row[:shown] for row in rows], text=(headings[0], *headings[4:]))


def worst_table(report: Report) -> Table | None:
    """The slowest turns with reasons; None when no turn was answered."""
    found = worst(report)
    if not found:
        return None
    why = f"the slowest {len(found)}, and why" if len(found) > 1 else "why it took so long"
    rows = [(report.name_of(one.turn.session, one.turn.turn), text) for one, text in found]
    return table(("turn", why), rows, text=(why,))


def _latencies(report: Report) -> Iterator[tuple[str, Distribution]]:
    """Every latency by its name in a check, with a blank for "_"."""
    yield "turn", report.turn_ms
    yield "  turn detected complete", report.turn_ms_detected_complete
    yield "  turn silence", report.turn_ms_fallback
    # Without a phrase before it, the answer is the first sound.
    if report.answer_ms != report.turn_ms:
        yield "answer", report.answer_ms
    if report.llm.policies:
        yield "whole answer", report.whole_answer_ms
    yield "turn cold", report.turn_ms_cold
    yield "turn barge in", report.turn_ms_barge_in


def _from_to(interval: Interval) -> str:
    return f"{ms(interval[0])}-{ms(interval[1])}"
