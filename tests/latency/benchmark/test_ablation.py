"""What a piece is worth, from latencies and CPU seconds made by hand."""

from pathlib import Path
from typing import Any

import pytest

from latency.benchmark.ablation import Worth, difference, worth
from latency.benchmark.benchmark import Benchmark
from latency.benchmark.callers import Callers
from latency.benchmark.interruptions import Interruptions, Sounds
from latency.benchmark.row import BenchmarkRow, Tally
from latency.judge.cut_offs import CutOffs
from latency.report.stats import Distribution

OURS = [0.50, 0.60, 0.70, 0.80, 0.90, 1.00, 1.10, 1.20, 1.30]

CALLERS = Callers(turns=10, speakers=("ann",), fitted=())
NO_SOUNDS = Sounds(went_on=0, resumed=0, stopped=0, silent=0)
NO_BARGE_INS = Interruptions(stopped=0, ended=0, ignored=0, missed=0, unplayed=0, stop_ms=Distribution.of([]))


def a_row(
    seconds: list[float], *, variant: str = "ours", without: str | None = None, of: str | None = None,
    llm: str = "450:65", per_minute: float | None = 12.0, per_answer: float | None = 2.0,
) -> BenchmarkRow:  # fmt: skip
    latencies = {("a", "a-1", turn): value for turn, value in enumerate(seconds)}
    return BenchmarkRow(
        llm=llm, variant=variant, about="", settings=(), without=without, of=of, run=Path(variant), calls=1,
        tally=Tally(latencies=latencies), expected=len(seconds), answered=len(seconds), unanswered={},
        cut_offs=CutOffs(pauses=0, in_pauses=0, elsewhere=0, heard=0), broken_off=0, interruptions=NO_BARGE_INS,
        sounds=NO_SOUNDS,
        requests=None, cpu_s_per_minute=per_minute, cpu_s_per_answer=per_answer, rss_peak_mb=None, simulated=[],
        refused=None, repeated=0,
    )  # fmt: skip


def lacking(seconds: list[float], **more: Any) -> BenchmarkRow:
    return a_row(seconds, variant="ours-no-hint", without="hint", of="ours", **more)


def found(without: BenchmarkRow, ours: BenchmarkRow | None = None) -> Worth:
    result = difference(without, ours or a_row(OURS))
    assert result is not None
    return result


def test_a_piece_that_saves_time_has_a_price_per_millisecond() -> None:
    one = found(lacking([value + 0.2 for value in OURS], per_minute=9.5, per_answer=1.5))
    assert (one.n, one.p50_ms, one.p95_ms) == (9, 200.0, 200.0)
    assert one.p50_ci == one.p95_ci == (200.0, 200.0), "each turn was later by the same"
    assert one.cpu_s_per_minute == -2.5
    assert one.cpu_ms_per_ms_saved == 2.5, "500 ms of CPU an answer, for 200 ms"


def test_percentiles_are_compared_each_with_its_own() -> None:
    one = found(lacking([*OURS[:-1], 2.3]))
    assert (one.p50_ms, one.p95_ms) == (0.0, 600.0), "the last turn alone is later, by 1000 ms"
    assert one.p95_ci is not None
    assert one.p95_ci[0] < one.p95_ms <= one.p95_ci[1]


@pytest.mark.parametrize(
    ("later", "per_answer"),
    [(-0.1, 1.5), (0.0, 1.5), (0.2, 2.0), (0.2, 2.5), (0.2, None)],
    ids=["it costs latency", "it saves none", "it costs no CPU", "it saves CPU, too", "CPU unknown"],
)
def test_what_saves_no_time_or_costs_no_cpu_has_no_price(later: float, per_answer: float | None) -> None:
    one = found(lacking([value + later for value in OURS], per_answer=per_answer))
    assert one.p50_ms == pytest.approx(later * 1000)
    assert one.cpu_ms_per_ms_saved is None


def test_only_turns_that_both_answered_are_compared() -> None:
    one = found(lacking([0.6, 0.7]))
    assert (one.n, one.p50_ms, one.p50_ci) == (2, pytest.approx(100), None)
    assert difference(lacking([]), a_row(OURS)) is None


def test_only_an_agent_without_a_piece_is_compared_with_ours_on_the_same_model() -> None:
    rows = [
        a_row(OURS),
        a_row(OURS, llm="100:1000"),
        lacking([value + 0.2 for value in OURS]),
        a_row([value / 2 for value in OURS], variant="ours-adaptive"),
    ]
    benchmark = Benchmark(
        folder=Path("bench"),
        created="",
        baseline="stock",
        rounds=1,
        fixtures=["a"],
        callers=CALLERS,
        host={},
        skipped={},
        rows=rows,
    )
    assert [worth(benchmark, row) is not None for row in rows] == [False, False, True, False]
    other = a_row(OURS, variant="ours-no-hint", without="hint", llm="7:7")
    assert worth(benchmark, other) is None
