import io
import json
from pathlib import Path

import pytest

from latency.benchmark.benchmark import Benchmark, BenchmarkRow, Requests
from latency.benchmark.callers import Callers
from latency.judge.cut_offs import CutOffs
from latency.render.benchmark import text, write
from latency.report.stats import Distribution

CALLERS = Callers(turns=10, speakers=("ann",), fitted=())


def a_row(
    variant: str, seconds: float, *, refused: str | None = None, calls: int = 3, without: str | None = None,
    cpu: float = 2.0,
) -> BenchmarkRow:  # fmt: skip
    latencies = {("a", "a-1", turn): seconds + turn / 100 for turn in range(10)}
    return BenchmarkRow(
        llm="450:65", variant=variant, about=f"about {variant}", settings=("a=1",) if without else (), without=without,
        of="ours" if without else None, run=Path(variant), calls=calls,
        turn_ms=Distribution.of(latencies.values()), expected=11, unanswered={"no speech from the bot": 1},
        cut_offs=CutOffs(pauses=4, in_pauses=1, elsewhere=2, heard=1), broken_off=0,
        barge_in={"n": 1, "stop_p50_ms": 310.0, "stop_p95_ms": 310.0},
        requests=Requests(n=20, cancelled=3, wasted_share=0.5), cpu_s_per_minute=12.5, cpu_s_per_answer=cpu,
        rss_peak_mb=512.0, latencies=latencies, simulated=["sim:steady"], refused=refused, repeated=0,
    )  # fmt: skip


def made_up(*rows: BenchmarkRow) -> Benchmark:
    return Benchmark(
        folder=Path("bench"), created="now", baseline="stock-pipecat", rounds=3, fixtures=["a"], callers=CALLERS,
        host={}, skipped={"livekit-agents": "it is not installed"}, rows=rows,
    )  # fmt: skip


def printed(benchmark: Benchmark) -> str:
    file = io.StringIO()
    write(benchmark, file)
    return file.getvalue()


def test_the_tables_show_latency_conduct_and_cost() -> None:
    shown = printed(made_up(a_row("ours", 0.5), a_row("stock-pipecat", 1.0)))
    rows = [line for line in shown.splitlines() if line.startswith("ours ")]
    assert "545 [" in rows[0]
    assert "0.52 [" in rows[0]
    assert rows[1].split() == ["ours", "1", "of", "11", "1", "of", "4", "2", "0", "310/310", "(1)"]
    assert rows[2].split() == ["ours", "20", "50", "%", "12.5", "512"]
    assert "SIMULATED, not real: sim:steady" in shown
    assert "livekit-agents is left out: it is not installed" in shown
    assert all(len(line) <= 120 for line in shown.splitlines())


def test_a_benchmark_fits_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lacking = a_row("ours-no-hint", 1.7, without="adaptive endpointing", cpu=1.5)
    shown = printed(made_up(a_row("ours", 1.5), lacking, a_row("livekit-agents", 2.0), a_row("stock-pipecat", 2.0)))
    assert all(len(line) <= 80 for line in shown.splitlines())
    assert any("10  2045 [2020-2070]  2086 [2061-2090]  1.00 [1.00-1.00]" in line for line in shown.splitlines())


def test_a_table_shows_the_worth_of_each_piece() -> None:
    lacking = a_row("ours-no-hint", 0.7, without="hint", cpu=1.5)
    slow = made_up(a_row("ours", 0.5), lacking, a_row("ours-adaptive", 0.4), a_row("stock-pipecat", 1.0))
    shown = printed(slow).splitlines()
    (title,) = [number for number, line in enumerate(shown) if line.startswith("What each part is worth")]
    rows = [line.split() for line in shown[title:] if line.startswith(("hint ", "ours", "stock"))][:1]
    assert rows == [["hint", "10", "+200", "[+200,", "+200]", "+200", "[+200,", "+200]", "+0.0", "2.5"]]
    assert any(line.startswith("without: a + means slower") for line in shown)
    assert all(len(line) <= 120 for line in shown)
    told = {row["variant"]: row for row in json.loads(text(slow))["rows"]}
    assert told["ours-no-hint"]["worth"]["cpu_ms_per_ms_saved"] == 2.5
    assert told["ours-no-hint"]["without"] == "hint"
    assert told["ours"]["worth"] is told["ours-adaptive"]["worth"] is None


def test_without_trials_of_pieces_there_is_no_table_of_them() -> None:
    assert "What each part" not in printed(made_up(a_row("ours", 0.5), a_row("stock-pipecat", 1.0)))
    refused = a_row("ours-no-hint", 0.7, without="hint", refused="late")
    assert "hint (REFUSED)" in printed(made_up(a_row("ours", 0.5), refused))


def test_a_refused_row_is_marked_and_explained() -> None:
    shown = printed(made_up(a_row("ours", 0.5, refused="the user's audio was not fed in real time")))
    assert "ours (REFUSED)" in shown
    assert "REFUSED: ours with 450:65: the user's audio was not fed in real time" in shown


def test_json_has_the_ratio_and_a_row_for_each_variant() -> None:
    told = json.loads(text(made_up(a_row("ours", 0.5), a_row("stock-pipecat", 1.0))))
    assert told["ratio_p50"] == 0.522
    assert told["ratio_p50_ci"][0] <= 0.522 <= told["ratio_p50_ci"][1]
    assert [row["variant"] for row in told["rows"]] == ["ours", "stock-pipecat"]
    assert told["rows"][0]["llm_requests"] == {"n": 20, "cancelled": 3, "wasted_share": 0.5}
    assert told["rows"][0]["cut_offs"]["rate"] == 0.25
    assert told["simulated"] == ["sim:steady"]


def test_json_without_our_agent_has_no_ratio() -> None:
    assert json.loads(text(made_up(a_row("stock-pipecat", 1.0))))["ratio_p50"] is None


def test_a_benchmark_that_was_interrupted_says_so() -> None:
    part = made_up(a_row("ours", 0.5, calls=1), a_row("stock-pipecat", 1.0))
    assert "NOT COMPLETE: of 3 calls each, there are: ours (450:65) 1, stock-pipecat (450:65) 3" in printed(part)
    assert json.loads(text(part))["complete"] is False
    whole = made_up(a_row("ours", 0.5))
    assert "NOT COMPLETE" not in printed(whole)
    assert json.loads(text(whole))["complete"] is True
