import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from latency.record.run import Run, RunHeader
from latency.record.session import Pacing
from latency.record.turn import ServerTurn, Stall, TurnRecord
from latency.report.checks import Check
from latency.report.report import Report, build
from tests.latency.budgeted_turns import attempt
from tests.latency.conversations import Conversation, MakeRun

Load = Callable[[Path], Run]
HEADER = RunHeader(created="2026-11-20T17:03:12+01:00")
LOOP, GC = "event loop", "garbage collection"


@pytest.fixture
def report(short_run: Path, load: Load) -> Report:
    return build(load(short_run))


def turn(number: int, start: float, end: float, **values: Any) -> TurnRecord:
    return TurnRecord(session="commands", turn=number, speech=((start, end),), wants_answer=True, **values)


def test_every_expected_turn_is_answered_or_has_a_reason(report: Report) -> None:
    assert (report.turns.total, report.turns.expected, report.turns.answered) == (4, 4, 3)
    assert report.turns.unanswered == {"nothing heard": 1}
    assert (report.turns.answers_ok, report.scored) == (2, 4)


def test_latencies_come_from_the_recording_with_barge_ins_apart(report: Report) -> None:
    assert (report.turn_ms.n, report.turn_ms.unanswered, report.turn_ms.within_800) == (1, 1, 1)
    assert (report.turn_ms.p50, report.turn_ms.max) == (None, None), "half of the turns got no answer"
    assert report.turn_ms_barge_in.n == 1
    assert report.turn_ms_barge_in.p50 == pytest.approx(700, abs=10)


def test_turns_judged_complete_and_turns_that_waited_are_counted_apart(report: Report) -> None:
    assert report.turn_ms_detected_complete.p50 == pytest.approx(600, abs=10)
    assert report.turn_ms_fallback.total == 0, "the only turn that waited was cut off"


def test_quality_is_reported_with_latency(report: Report) -> None:
    quality = report.quality
    assert (quality.cut_offs, quality.pauses, quality.false_cut_off_rate, quality.gaps) == (1, 1, 1.0, 0)
    # One word of four mistaken, one word of one not heard, seven right.
    assert quality.wer == pytest.approx(2 / 12, abs=0.0001)
    assert (report.barge_in.n, report.barge_in.false) == (1, 0)
    assert report.barge_in.stop_p50_ms == pytest.approx(500, abs=10)


def test_a_scripted_recogniser_has_no_word_error_rate(short_run: Path, load: Load) -> None:
    run = load(short_run)
    header = replace(run.header, components={"asr": "faster-whisper scripted:whisper-tiny (int8, cpu)"})
    assert build(replace(run, header=header)).quality.wer is None


def test_marks_are_reconciled_with_the_recording(report: Report) -> None:
    assert report.residual_ms is not None
    assert (report.residual_ms.n, report.residual_ms.flagged) == (1, 0)
    assert report.contributions_ms["endpointing_wait"].p50 == pytest.approx(200)
    assert report.contributions_ms["playout"].n == 1
    assert report.llm.within == 1
    assert report.llm.budget_ms == 450
    assert report.speculation.started == 0


def test_a_run_without_marks_has_no_residual(make_run: MakeRun, load: Load) -> None:
    found = build(load(make_run([turn(0, 1, 2)], Conversation(5).bot(2.5, 3).samples)))
    assert found.residual_ms is None
    assert found.contributions_ms["llm_inference"].p50 is None
    assert (found.quality.wer, found.turns.answers_ok, found.pacing.ok) == (None, None, None)


def test_the_first_turn_of_a_process_is_apart(make_run: MakeRun, load: Load) -> None:
    talk = Conversation(9).bot(3.5, 4).bot(6.5, 7)
    found = build(load(make_run([turn(0, 1, 2, cold=True), turn(1, 5, 6)], talk.samples)))
    assert (found.turn_ms.n, found.turn_ms_cold.n) == (1, 1)
    assert found.turn_ms_cold.max == pytest.approx(1500, abs=10)
    assert found.turns.answered == 2


def test_one_estimated_turn_makes_the_truth_estimated(make_run: MakeRun, load: Load) -> None:
    turns = [turn(0, 1, 2), turn(1, 3, 4, truth="estimated")]
    assert build(load(make_run(turns, None))).truth == "estimated"
    assert build(load(make_run(turns[:1], None))).truth == "labelled"


def test_turns_without_a_recording_are_counted_not_dropped(make_run: MakeRun, load: Load) -> None:
    found = build(load(make_run([turn(0, 1, 2), turn(1, 3, 4)], None)))
    assert found.turns.unanswered == {"recording lost": 2}
    assert (found.quality.cut_offs, found.quality.gaps, found.barge_in.false) == (None, None, None)


def test_a_model_that_turns_out_to_be_simulated_is_said_with_those_that_say_so(make_run: MakeRun, load: Load) -> None:
    asked = [attempt("large", 2.0, 2.4, model="sim:gpt-4.1", simulated=True)]
    run = load(make_run([turn(0, 1, 2, attempts=asked), turn(1, 3, 4, attempts=asked)], None))
    assert build(run).simulated == (*run.header.simulated, "sim:gpt-4.1 (by its answers)")
    known = replace(run, header=replace(run.header, simulated=("sim:gpt-4.1 at http://127.0.0.1:9",)))
    assert build(known).simulated == known.header.simulated


def test_turns_that_the_agents_own_voice_began_are_counted_where_servers_tell(make_run: MakeRun, load: Load) -> None:
    run = load(make_run([turn(0, 1, 2)], Conversation(5).bot(2.5, 3).samples))
    assert build(run).barge_in.own is None
    told = tuple(replace(one, self_interruptions=2) for one in run.sessions)
    found = build(replace(run, sessions=told))
    assert found.barge_in.own == 2
    assert Check.parse("barge_in own == 0").judge(found).verdict == "failed"


def test_turns_of_a_session_that_run_json_does_not_know_yet_are_counted(make_run: MakeRun, load: Load) -> None:
    late = replace(turn(0, 1, 2), session="killed")
    folder = make_run([turn(0, 1, 2), late], Conversation(5).bot(2.5, 3).samples, status="running")
    found = build(load(folder))
    assert found.turns.total == 2
    assert found.turns.unanswered == {"recording lost": 1}


def test_bad_pacing_is_a_complaint_that_names_the_session(make_run: MakeRun, load: Load) -> None:
    starved = Pacing(frames=1000, late_over_20ms=50, late_max_ms=80.0, clock_ratio=1.0)
    found = build(load(make_run([turn(0, 1, 2)], None, pacing=starved))).pacing
    assert (found.ok, found.frames, found.late_over_20ms, found.late_max_ms) == (False, 1000, 50, 80.0)
    assert found.complaints[0].startswith("session 'commands': 5.0 % of the audio frames")


def test_a_run_not_sent_in_real_time_keeps_only_figures_without_a_clock(make_run: MakeRun, load: Load) -> None:
    starved = Pacing(frames=1000, late_over_20ms=50, late_max_ms=80.0, clock_ratio=1.0)
    limits = ("turn p95 < 800", "cut_offs == 0", "llm within > 0", "answered == 1", "unanswered > 0")
    folder = make_run([turn(0, 1, 2)], Conversation(5).bot(2.5, 3).samples, pacing=starved)
    found = build(load(folder), [Check.parse(limit) for limit in limits])
    assert found.refused is not None
    assert found.refused.startswith("the user's audio was not fed in real time (session 'commands': 5.0 % of the")
    assert [one.verdict for one in found.thresholds] == ["no data", "no data", "no data", "passed", "failed"]
    assert found.thresholds[0].reason == f"the run is refused: {found.refused}"


def test_a_drifting_clock_refuses_a_run_and_a_turn_that_was_fed_late_does_not(make_run: MakeRun, load: Load) -> None:
    drifting = Pacing(frames=5000, late_over_20ms=0, late_max_ms=8.0, clock_ratio=1.002)
    assert "0.20 % too slow" in str(build(load(make_run([turn(0, 1, 2)], None, pacing=drifting))).refused)
    real = Pacing(frames=5000, late_over_20ms=3, late_max_ms=31.0, clock_ratio=1.00001)
    turns = [turn(0, 1, 2, late_ms_max=31.0), turn(1, 3, 4, late_ms_max=20.0), turn(2, 5, 6)]
    found = build(load(make_run(turns, None, pacing=real)))
    assert (found.refused, found.late_turns) == (None, 1)


def test_stalls_are_those_of_the_turn_in_which_they_began(make_run: MakeRun, load: Load) -> None:
    stalls = [Stall(at=at, ms=ms, kind=kind) for at, ms, kind in ((0.5, 30, LOOP), (2.1, 150, LOOP), (2.2, 40, GC))]
    reports = (ServerTurn(turn=0, stalls=3),)
    turns = [
        turn(0, 1, 2, stalls=tuple(stalls), server_turns=reports),
        turn(1, 3, 4, stalls=(replace(stalls[0], at=3.5),)),
    ]
    found = build(load(make_run(turns, None)))
    assert found.watched
    assert [(one.session, one.turn, one.at, one.ms, one.kind) for one in found.stalls] == [
        ("commands", None, 0.5, 30.0, LOOP),
        ("commands", 0, 2.1, 150.0, LOOP),
        ("commands", 0, 2.2, 40.0, GC),
        ("commands", 1, 3.5, 30.0, LOOP),
    ]
    assert found.outcomes[0].turn.stalls == tuple(stalls)


def test_a_run_whose_server_was_not_watched_says_so(report: Report) -> None:
    assert (report.watched, report.stalls) == (False, ())


def test_a_report_names_its_date_host_and_versions(make_run: MakeRun, load: Load) -> None:
    header = replace(HEADER, command=["voice", "replay"], versions={"pipecat-ai": "1.14.0"}, host={"cpus": 2})
    found = build(load(make_run([turn(0, 1, 2)], None, header=header)))
    assert (found.header.created, tuple(found.header.command), found.header.versions) == (
        HEADER.created, ("voice", "replay"), {"pipecat-ai": "1.14.0"},
    )  # fmt: skip
    assert found.host == {"platform": None, "python": None, "cpus": 2, "load_before": None, "load_after": None}


def test_a_turn_whose_marks_leave_20_ms_unexplained_is_named_with_the_stretch(make_run: MakeRun, load: Load) -> None:
    marks = {"vad_stop": 2.2, "turn_commit": 2.28, "first_sent": 2.4, "first_audible": 2.5}
    found = build(load(make_run([turn(0, 1, 2, marks=marks)], Conversation(5).bot(2.5, 3).samples)))
    assert found.residual_ms is not None
    assert found.residual_ms.flagged == 1
    (one,) = found.unexplained
    assert (one.session, one.turn, one.after, one.before) == ("commands", 0, "turn_commit", "first_sent")


def test_turns_beyond_the_end_of_a_cut_recording_are_not_recorded_and_the_others_keep_their_latency(
    make_run: MakeRun, load: Load
) -> None:
    talk = Conversation(12).bot(2.5, 3).bot(6.5, 7).bot(10.4, 11)
    folder = make_run([turn(0, 1, 2), turn(1, 5, 6), turn(2, 9, 10)], talk.samples)
    os.truncate(folder / "commands.wav", 44 + round(6.6 * 16000) * 4)
    found = build(load(folder))
    assert [None if o.latency is None else round(o.latency, 2) for o in found.outcomes] == [0.5, None, None]
    assert found.turns.unanswered == {"recording lost": 2}


def test_the_pipelines_own_llm_budget_and_policy_are_used(make_run: MakeRun, load: Load) -> None:
    header = replace(HEADER, pipeline={"llm": {"budget_ms": 500, "policy": "hedged"}}, simulated=["sim:tier"])
    found = build(load(make_run([turn(0, 1, 2)], None, header=header)))
    assert (found.llm.budget_ms, found.llm.policy, found.simulated) == (500, "hedged", ("sim:tier",))


def test_turns_are_judged_in_order_however_they_were_written(make_run: MakeRun, load: Load) -> None:
    talk = Conversation(12).bot(2.5, 3).bot(8.0, 9)
    found = build(load(make_run([turn(1, 6, 7), turn(0, 1, 2)], talk.samples)))
    assert [round((o.latency or 0) * 10) for o in found.outcomes] == [5, 10]


def test_thresholds_are_judged_on_the_finished_report(short_run: Path, load: Load) -> None:
    found = build(load(short_run), [Check.parse("cut_offs == 0"), Check.parse("gaps == 0")])
    assert [judgement.verdict for judgement in found.thresholds] == ["failed", "passed"]
