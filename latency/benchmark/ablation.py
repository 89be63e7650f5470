"""What each piece of our agent is worth: the agent without it compared with ours, in the same benchmark.

All differences are "without the piece" minus "ours", so a positive difference is what the piece saves. Latencies are
compared on the turns that both answered. As for ratios, the intervals draw turns of the fixture, each with its
repetitions.
"""

from dataclasses import dataclass

from latency.benchmark.benchmark import Benchmark, BenchmarkRow
from latency.report.stats import Interval, excess, excess_interval, paired

OURS = "ours"
"""The variant with all pieces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """What a piece of our agent saves and costs; latencies in ms, differences of percentiles."""

    n: int
    """Turns that both answered."""
    p50_ms: float
    p50_ci: Interval | None
    p95_ms: float
    p95_ci: Interval | None
    cpu_s_per_minute: float | None
    """CPU seconds per minute of conversation; negative if the piece costs CPU."""
    cpu_ms_per_ms_saved: float | None
    """CPU ms that the piece costs per answered turn for each ms that it saves of the median; None if it saves no
    latency or costs no CPU."""


def worth(benchmark: Benchmark, row: BenchmarkRow) -> Worth | None:
    """The worth of the piece that a row lacks; None if it lacks none, or has no answered turn in common with ours."""
    ours = next((one for one in benchmark.rows if one.variant == OURS and one.llm == row.llm), None)
    return None if ours is None or row.without is None else difference(row, ours)


def difference(without: BenchmarkRow, ours: BenchmarkRow) -> Worth | None:
    """An agent minus ours; None without a turn that both answered."""
    groups = [[(a * 1000, b * 1000) for a, b in group] for group in paired(without.latencies, ours.latencies)]
    pairs = [pair for group in groups for pair in group]
    p50, p95 = excess(pairs, 50), excess(pairs, 95)
    if p50 is None or p95 is None:
        return None
    cost = _less(ours.cpu_s_per_answer, without.cpu_s_per_answer)
    pays = cost is not None and cost > 0 and p50 > 0
    return Worth(
        n=len(pairs),
        p50_ms=round(p50, 1),
        p50_ci=excess_interval(groups, 50),
        p95_ms=round(p95, 1),
        p95_ci=excess_interval(groups, 95),
        cpu_s_per_minute=_less(without.cpu_s_per_minute, ours.cpu_s_per_minute),
        cpu_ms_per_ms_saved=round(cost * 1000 / p50, 2) if cost is not None and pays else None,
    )


def _less(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else round(one - other, 3)
