import io
import json
from pathlib import Path

import pytest

from latency.benchmark.benchmark import Benchmark, Callers, text
from latency.benchmark.row import BenchmarkRow, ComparedTurns, CutOffs, Interruptions, Requests
from latency.benchmark.tables import about_callers, write
from latency.report.stats import Distribution

CALLERS = Callers(turns=10, speakers=("ann",), fitted=())
NO_SOUNDS = {"went_on": 0, "resumed": 0, "stopped": 0, "silent": 0}
NO_BARGE_INS = Interruptions(stopped=0, ended=0, ignored=0, missed=0, unplayed=0, stop_ms=Distribution.of([]))


def a_row(
    variant: str, seconds: float, *, refused: str | None = None, calls: int = 3, without: str | None = None,
    cpu: float = 2.0, interruptions: Interruptions = NO_BARGE_INS,
    sounds: dict[str, int] = NO_SOUNDS,
) -> BenchmarkRow:  # fmt: skip
    latencies = {("a", "a-1", turn): seconds + turn / 100 for turn in range(10)}
    tally = ComparedTurns(
        latencies=latencies, cut_off=frozenset({("a", "a-1", 10)}), unanswered=frozenset({("a", "a-1", 11)}),
        finished=frozenset(("a", "a-1", turn) for turn in range(8)) if variant == "ours" else frozenset(), early=1,
    )  # fmt: skip
    return BenchmarkRow(
        llm="450:65", variant=variant, about=f"about {variant}", settings=("a=1",) if without else (), without=without,
        of="ours" if without else None, run=Path(variant), calls=calls, tally=tally, expected=13, answered=12,
        unanswered={"no speech from the bot": 1}, cut_offs=CutOffs(pauses=4, in_pauses=1, elsewhere=2, heard=1),
        broken_off=0, interruptions=interruptions, requests=Requests(n=20, cancelled=3, wasted_share=0.5),
        cpu_s_per_minute=12.5, cpu_s_per_answer=cpu, rss_peak_mb=512.0, simulated=["sim:steady"], refused=refused,
        repeated=0, sounds=sounds,
    )  # fmt: skip


def made_up(*rows: BenchmarkRow) -> Benchmark:
    return Benchmark(
        folder=Path("bench"), created="now", baseline="stock-pipecat", rounds=3, fixtures=["a"], callers=CALLERS,
        host={"cpus": 2, "load_before": 0.31}, skipped={"livekit-agents": "it is not installed"}, rows=rows,
    )  # fmt: skip


def printed(benchmark: Benchmark) -> str:
    file = io.StringIO()
    write(benchmark, file)
    return file.getvalue()


def rows_of(shown: str, agent: str) -> list[list[str]]:
    return [line.split() for line in shown.splitlines() if line.startswith(f"{agent} ")]


def test_the_tables_show_latency_turns_conduct_and_cost() -> None:
    shown = printed(made_up(a_row("ours", 0.5), a_row("stock-pipecat", 1.0)))
    latency, finished, turns, conduct, cost = rows_of(shown, "ours")
    assert latency[:3] == ["ours", "11", "550"]
    assert "never" in latency, "the 95th percentile falls on the unanswered turn"
    assert latency[-2] == "0.52"
    assert finished[:3] == ["ours", "8", "535"]
    assert turns == ["ours", "12", "10", "1", "1", "1"]
    assert conduct == ["ours", "1", "of", "4", "2", "0"]
    assert cost == ["ours", "20", "50", "%", "12.5", "512"]
    assert "called in 3 rounds, in rotating order" in shown
    assert "Machine: 2 CPUs, load 0.3 at the start" in shown
    assert "SIMULATED, not real: sim:steady" in shown
    assert "Callers: 10 turns by 1 speaker, endpointing was fitted to none of them" in shown
    assert "livekit-agents is left out: it is not installed" in shown
    assert all(len(line) <= 120 for line in shown.splitlines())


def test_every_agent_is_shown_on_the_recordings_that_ours_took_for_finished() -> None:
    shown = printed(made_up(a_row("ours", 0.5), a_row("stock-pipecat", 1.0)))
    assert rows_of(shown, "stock-pipecat")[1][:3] == ["stock-pipecat", "8", "1035"]
    assert "words are finished" not in printed(made_up(a_row("stock-pipecat", 1.0)))


def test_planned_barge_ins_add_up() -> None:
    stops = Distribution.of([0.25, 0.27])
    some = Interruptions(stopped=2, ended=3, ignored=2, missed=4, unplayed=1, stop_ms=stops)
    one = made_up(a_row("ours", 0.5, interruptions=some))
    shown = printed(one)
    assert ["ours", "12", "2", "3", "2", "5", "260", "269"] in rows_of(shown, "ours")
    (told,) = json.loads(text(one))["rows"]
    found = told["barge_in"]
    assert found["planned"] == sum(found[key] for key in ("stopped", "ended", "ignored", "missed", "unplayed")) == 12
    assert found["obeyed"] == 0.5
    assert "Barge-ins" not in printed(made_up(a_row("ours", 0.5)))


def test_sounds_that_must_not_interrupt_have_a_table() -> None:
    one = made_up(a_row("ours", 0.5, sounds={"went_on": 7, "resumed": 2, "stopped": 1, "silent": 3}))
    assert ["ours", "13", "7", "2", "1", "3"] in rows_of(printed(one), "ours")
    (told,) = json.loads(text(one))["rows"]
    assert told["sounds"] == {"went_on": 7, "resumed": 2, "stopped": 1, "silent": 3, "planned": 13}


def test_an_agent_is_labelled_with_what_was_set() -> None:
    shown = printed(made_up(a_row("ours", 0.5), a_row("ours-no-hint", 0.7, without="hint")))
    assert "ours: about ours\n" in shown
    assert "ours-no-hint: about ours-no-hint; set: a=1\n" in shown


def test_a_benchmark_fits_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    some = Interruptions(stopped=20, ended=3, ignored=2, missed=4, unplayed=1, stop_ms=Distribution.of([0.25] * 20))
    lacking = a_row("ours-fixed-endpointing", 1.7, without="adaptive endpointing", cpu=1.5, interruptions=some)
    shown = printed(made_up(a_row("ours", 1.5), lacking, a_row("livekit-agents", 2.0), a_row("stock-pipecat", 2.0)))
    assert all(len(line) <= 80 for line in shown.splitlines())
    assert any("1.00 [1.00-1.00]" in line for line in shown.splitlines())
    assert any("250 [250-250]" in line for line in shown.splitlines())


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
    assert told["rows"][0]["turns"] == {"n": 12, "answered": 10, "cut_off": 1, "unanswered": 1, "early": 1}
    assert (told["rows"][0]["turn_ms"]["n"], told["rows"][0]["turn_ms"]["p95"]) == (11, None)
    assert told["rows"][0]["set"] == []
    assert told["callers"]["speakers"] == ["ann"]
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


@pytest.mark.parametrize(
    ("callers", "told"),
    [
        (Callers(turns=1, speakers=("a",), fitted=()), "1 turn by 1 speaker, endpointing was fitted to none of them"),
        (
            Callers(turns=9, speakers=("sim:a",), fitted=(), synthetic=1),
            "1 speaker, all of them SYNTHESISERS",
        ),
        (Callers(turns=9, speakers=("a", "b"), fitted=("b",)), "9 turns by 2 speakers, endpointing was FITTED to 1 of"),
        (Callers(turns=9, speakers=("a", "b"), fitted=("a", "b")), "endpointing was FITTED to all of them"),
        (Callers(turns=9, speakers=(), fitted=(), unnamed=9), "Callers: 9 turns, all by speakers that are not named"),
        (Callers(turns=9, speakers=("a",), fitted=(), unnamed=2), "none of them, 2 by speakers that are not named"),
    ],
)
def test_the_first_sentence_says_whether_endpointing_was_fitted_to_them(callers: Callers, told: str) -> None:
    (line,) = about_callers(callers)
    assert told in line


def test_what_is_missing_is_said() -> None:
    _, left_out, estimated, scripted = about_callers(
        Callers(turns=9, speakers=("a",), fitted=(), left_out=31, estimated=2, wordless=1)
    )
    assert left_out == "Left out: 31 turns by speakers that endpointing was fitted to"
    assert estimated.startswith("ESTIMATED: the end of speech was measured in 2 turns")
    assert scripted.startswith("SCRIPTED: the words of 1 turn are unknown")
