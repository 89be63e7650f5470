"""What each piece of our agent is worth: an agent without it compared with the one that has it, in the same benchmark.

All differences are "without the piece" minus "with it", so a positive difference is what the piece saves. Latencies are
compared on the turns that both answered. As for ratios, the intervals draw turns of the fixture, each with its
repetitions.
"""

from dataclasses import dataclass

from latency.benchmark.benchmark import Benchmark
from latency.benchmark.row import BenchmarkRow
from latency.report.stats import Interval, excess, excess_interval, paired


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
    """The worth of the piece that a row lacks; None if it lacks none, or answered no turn that the other answered."""
    if row.without is None:
        return None
    whole = next((one for one in benchmark.rows if one.variant == row.of and one.llm == row.llm), None)
    return None if whole is None else difference(row, whole)


def difference(without: BenchmarkRow, whole: BenchmarkRow) -> Worth | None:
    """An agent minus another; None without a turn that both answered."""
    groups = [
        [(a * 1000, b * 1000) for a, b in group] for group in paired(without.tally.latencies, whole.tally.latencies)
    ]
    pairs = [pair for group in groups for pair in group]
    p50, p95 = excess(pairs, 50), excess(pairs, 95)
    if p50 is None or p95 is None:
        return None
    cost = _less(whole.cpu_s_per_answer, without.cpu_s_per_answer)
    pays = cost is not None and cost > 0 and p50 > 0
    return Worth(
        n=len(pairs),
        p50_ms=round(p50, 1),
        p50_ci=excess_interval(groups, 50),
        p95_ms=round(p95, 1),
        p95_ci=excess_interval(groups, 95),
        cpu_s_per_minute=_less(without.cpu_s_per_minute, whole.cpu_s_per_minute),
        cpu_ms_per_ms_saved=round(cost * 1000 / p50, 2) if cost is not None and pays else None,
    )


def _less(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else round(one - other, 3)
