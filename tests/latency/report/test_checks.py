import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from latency.record.run import Run
from latency.record.turn import TurnRecord
from latency.report.checks import FIGURES, MISTAKES, Check, CheckError
from latency.report.llm.cost import cost_figures
from latency.report.report import Report, build
from tests.latency.budgeted_turns import attempt, turn
from tests.latency.conversations import MakeRun, first_turn


@pytest.fixture
def report(short_run: Path, load: Callable[[Path], Run]) -> Report:
    return build(load(short_run))


@pytest.mark.parametrize(
    ("expr", "verdict"),
    [
        ("turn_detected_complete p95 < 700 n>=1", "passed"),
        ("turn_detected_complete p95 < 500  n >= 1 ", "failed"),
        ("turn_detected_complete p95 < 700", "no data"),
        ("turn_detected_complete p50 < 700 n>=2", "no data"),
        ("turn_detected_complete p50<=610", "passed"),
        ("  turn_detected_complete   max  >= 599 ", "passed"),
        ("turn p95 < 100000 n>=2", "failed"),
        ("turn p95 < 100000 n>=3", "no data"),
        ("turn max < 100000", "failed"),
        ("turn n == 1", "passed"),
        ("early == 0", "passed"),
        ("turn within_800 >= 0.5", "passed"),
        ("turn within_800 > 0.5", "failed"),
        ("turn p99 < 5000", "no data"),
        ("turn_cold p50 < 800", "no data"),
        ("turn_cold n == 0", "no data"),
        ("turn_fallback p50 < 9999", "no data"),
        ("cut_offs == 0", "failed"),
        ("cut_offs == 1", "passed"),
        ("false_cut_off_rate <= 0.05", "failed"),
        ("unanswered != 0", "passed"),
        ("answered == 3", "passed"),
        ("answers_ok >= 0.5", "passed"),
        ("answers_ok >= 0.85", "failed"),
        ("gaps == 0", "passed"),
        ("wer < 0.1", "failed"),
        ("llm within >= 0.99", "passed"),
        ("llm judged == 1", "passed"),
        ("llm textless == 0", "passed"),
        ("llm overshoot_max <= 25", "passed"),
        ("llm overshoot_p50 > 0", "failed"),
        ("llm overshoot_p99 <= 25", "no data"),
        ("llm extra == 0", "passed"),
        ("llm wasted <= 0.1", "no data"),
        ("whole_answer p50 > 1500", "passed"),
        ("endpointing_wait p50 <= 200", "passed"),
        ("endpointing_wait p95 < 100 n>=1", "failed"),
        ("endpointing_wait p95 < 100", "no data"),
        ("residual p95 < 20 n>=1", "passed"),
        ("barge_in stop_p95 < 600 n>=1", "passed"),
        ("barge_in false == 0", "passed"),
    ],
)
def test_thresholds_hold_a_report_to_its_limits(report: Report, expr: str, verdict: str) -> None:
    assert Check.parse(expr).judge(report).verdict == verdict


def test_a_run_without_a_measurement_passes_nothing(make_run: MakeRun, load: Callable[[Path], Run]) -> None:
    noise = TurnRecord(session="commands", turn=0, wants_answer=False, labels=((0.0, 1.0, "noise"),))
    empty = build(load(make_run([noise], None)))
    verdicts = {figure: Check.parse(f"{figure} >= 0").judge(empty).verdict for figure in FIGURES}
    assert {figure for figure, verdict in verdicts.items() if verdict != "no data"} == {"total"}


@pytest.mark.parametrize(
    ("expr", "complaint"),
    [
        ("", "is no threshold; write one like"),
        ("turn p95", "is no threshold"),
        ("turn p95 <", "is no threshold; write one like"),
        ("< 800", "is no threshold; write one like"),
        ("turn p95 < fast", 'is no threshold: "fast" is no number; its limit is a number'),
        ("turn p95 < nan", '"nan" is no number'),
        ("turn p95 < 800 < 900", "is no threshold"),
        ("turn p95 => 800", 'is no threshold: "=>" is no operator; write ">="'),
        ("cut_offs = 0", '"=" is no operator; write "=="'),
        ("cut_offs ! 0", '"!" is no operator; there is <, <=, >, >=, ==, !='),
        ("turn p95 < 800 ms", "durations are milliseconds without a unit: write 800"),
        ("turn p95 < 0.8s", "durations are milliseconds: write 800"),
        ("wer < 10%", "it is a ratio: write 0.1"),
        ("answers_ok >= 85%", "shares lie between 0 and 1: write 0.85"),
        ("trun p95 < 800", 'there is no figure "trun p95"; did you mean "turn p95"?'),
        ("Turn P95 < 800", 'did you mean "turn p95"?'),
        ("cut-offs == 0", 'did you mean "cut_offs"?'),
        ("speech synthesis p95 < 80", 'did you mean "speech_synthesis p95"?'),
        ("llm whithin > 0.9", 'did you mean "llm within"?'),
        ("p95 < 800", 'say of what, as in "turn p95"'),
        ("price < 1", 'there is no figure "price"; known are turn, turn_cold'),
        ("turn p75 < 800", "of turn there is n, p50, p90, p95, p99, max, within_400, within_800"),
        ("turn < 800", 'there is no figure "turn"'),
        ("answers_ok >= 85", "is a share between 0 and 1, not 85"),
        ("llm within >= 99", "is a share between 0 and 1"),
        ("llm wasted < 10", "is a share between 0 and 1"),
        ("cost usd < $2", "costs are US dollars: write 2"),
        ("cost per_turn < 2", "of cost there is usd, usd_per_call, usd_per_100_turns, winners"),
        ("cut_offs == 0 n>=5", 'cut_offs is not taken from a number of turns; leave out "n>=5"'),
        ("turn p95 < 800 n>5", "is no threshold"),
        ("llm overshoot < 25", "of llm there is within, rescued, bridged, missed, judged, textless, overshoot_p50"),
    ],
)
def test_what_is_no_threshold_is_refused_before_anything_runs(expr: str, complaint: str) -> None:
    with pytest.raises(CheckError, match=complaint):
        Check.parse(expr)


def test_a_limit_may_begin_with_its_point() -> None:
    assert Check.parse("llm within >= .99").limit == 0.99


def test_what_100_turns_cost_is_a_limit(report: Report) -> None:
    def judged(usd: float | None, expr: str) -> tuple[str, str | None]:
        asked = attempt("large", 2.0, 2.1, model="opus", tokens={"in": 9, "out": 1}, usd=usd)
        found = Check.parse(expr).judge(replace(report, cost=cost_figures([turn([asked])])))
        return found.verdict, found.reason

    assert judged(0.019, "cost usd_per_100_turns < 2") == ("passed", None)
    assert judged(0.021, "cost usd_per_100_turns < 2") == ("failed", None)
    assert judged(None, "cost usd_per_100_turns < 2") == ("no data", "no price known for opus")


def test_no_data_says_why(report: Report) -> None:
    def reason(expr: str) -> str | None:
        return Check.parse(expr).judge(report).reason

    assert reason("turn p99 < 5000") == "the 99th percentile needs 100 samples"
    assert reason("turn_cold p50 < 800") == "nothing of that kind was measured in this run"
    assert reason("turn p50 < 800") is None
    assert reason("turn p95 < 800") == (
        "the 95th percentile needs 20 turns and this run has 2; replay more (--repeat), or allow fewer: "
        '"turn p95 < 800 n>=2"'
    )
    assert reason("turn p50 < 800 n>=9") == (
        'turn p50 needs 9 turns and this run has 2; replay more (--repeat), or allow fewer: "turn p50 < 800 n>=2"'
    )


@pytest.mark.parametrize("figure", sorted(MISTAKES))
def test_an_agent_that_answers_nobody_has_made_no_mistake_that_could_count(report: Report, figure: str) -> None:
    silent = replace(
        report,
        turns=replace(report.turns, answered=0, unanswered={"no speech from the bot": 4}),
        quality=replace(report.quality, cut_offs=0, gaps=0, early=0, false_cut_off_rate=0.0),
        barge_in=replace(report.barge_in, own=0),
    )
    judged = Check.parse(f"{figure} == 0").judge(silent)
    assert (judged.verdict, judged.reason) == ("no data", "no turn was answered")
    spoke = replace(silent, quality=replace(silent.quality, cut_offs=1))
    assert Check.parse("cut_offs == 0").judge(spoke).verdict == "failed", "what it did is judged"


def test_a_run_without_its_recordings_knows_neither_answers_nor_right_ones(
    make_run: MakeRun, load: Callable[[Path], Run]
) -> None:
    lost = build(load(make_run([first_turn()], None)))
    assert lost.turn_ms_detected_complete.total == 0
    for limit in ("answers_ok == 1", "answered == 1", "unanswered == 0", "turn within_800 == 1", "cut_offs == 0"):
        assert Check.parse(limit).judge(lost).verdict == "no data", limit


def test_a_judgement_keeps_the_text_and_the_figure(report: Report) -> None:
    found: Any = Check.parse("  cut_offs == 0 ").judge(report)
    assert (found.expr, found.verdict, found.value) == ("cut_offs == 0", "failed", 1)


@pytest.mark.parametrize(
    ("expr", "verdict"),
    [
        ("turn_detected_complete p50 <= baseline", "passed"),
        ("turn_detected_complete p50<=1.05*baseline n>=1", "passed"),
        ("turn_detected_complete p50 < .9 * baseline", "failed"),
        ("turn_detected_complete p95 <= baseline", "no data"),
        ("cut_offs <= baseline", "passed"),
        ("answers_ok >= 0.9 * baseline", "passed"),
    ],
)
def test_a_limit_may_be_a_multiple_of_a_baselines_figure(report: Report, expr: str, verdict: str) -> None:
    assert Check.parse(expr).is_relative
    assert Check.parse(expr).judge(report, report).verdict == verdict


def test_a_baseline_without_the_figure_is_no_limit(report: Report) -> None:
    check = Check.parse("turn_detected_complete p50 <= baseline")
    found = check.judge(report)
    assert (found.verdict, found.reason) == ("no data", "it needs a baseline (--baseline NAME)")
    refused = replace(report, refused="the audio was late")
    assert check.judge(report, refused).reason == "in the baseline, the run is refused: the audio was late"
    silent = replace(report.turn_ms_detected_complete, n=0, unanswered=1, p50=None)
    never = check.judge(report, replace(report, turn_ms_detected_complete=silent))
    assert (never.verdict, never.reason) == ("no data", "in the baseline, it is that of an unanswered turn")


@pytest.mark.parametrize(
    ("expr", "complaint"),
    [
        ("turn p50 <= baseline * 1.05", 'write "1.05 * baseline"'),
        ("turn p50 <= -1 * baseline", "a multiple of the baseline is above 0"),
        ("turn p50 <= 0 * baseline", "a multiple of the baseline is above 0"),
    ],
)
def test_a_multiple_of_the_baseline_has_one_form(expr: str, complaint: str) -> None:
    with pytest.raises(CheckError, match=re.escape(complaint)):
        Check.parse(expr)


@pytest.mark.parametrize("limit", ["baseline * many", "2 baseline", "base", "5 % * baseline"])
def test_other_forms_of_a_relative_limit_are_refused(limit: str) -> None:
    with pytest.raises(
        CheckError, match=r'its limit is a number, or a multiple of a baseline, such as "1.05 \* baseline"'
    ):
        Check.parse(f"turn p50 <= {limit}")
