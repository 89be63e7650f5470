"""Whose words are those that are said over an answer."""

import pytest

from latency.record.turn import OverlapRecord, OverlapVerdict
from pipelines.call_log.turn_log import TurnLog
from tests.pipelines.call_log.test_turn_log import answered
from voice.frames import OverlapFrame


def overlap(onset: float, verdict: OverlapVerdict | None = None, *, awaits: bool) -> OverlapFrame:
    return OverlapFrame(record=OverlapRecord(onset=onset, verdict=verdict), awaits=awaits)


def test_what_is_said_over_an_answer_is_the_next_turns_if_it_stops_the_answer() -> None:
    log = TurnLog(tier="responder")
    answered(log)
    log.overlapped(overlap(12.0, awaits=True))
    log.speech_may_have_stopped(12.4, 0.1)
    log.speech_stopped(12.6, 0.2)
    log.heard(12.7, "stop")
    log.overlapped(overlap(12.0, "stopped", awaits=False))
    before = log.turn_opened(12.71)
    assert before is not None
    assert before.interrupted
    assert [one.verdict for one in before.overlaps.values()] == ["stopped"]
    assert before.heard == ["what time is it"]
    assert log.turn is not None
    assert log.turn.heard == ["stop"]
    assert (log.turn.marks["vad_stop"], log.turn.marks["transcript_final"]) == (12.6, 12.7)
    assert log.turn.silent_since == pytest.approx(12.4)


def test_what_lets_the_answer_go_on_is_nobodys() -> None:
    log = TurnLog(tier="responder")
    answered(log)
    log.overlapped(overlap(12.0, awaits=True))
    log.speech_stopped(12.6, 0.2)
    log.heard(12.7, "yeah")
    turn = log.overlapped(overlap(12.0, "resumed", awaits=False))
    assert turn is not None
    assert [one["verdict"] for one in turn.report().to_json()["overlaps"]] == ["resumed"]
    log.turn_opened(20.0)
    log.heard(21.0, "goodbye")
    assert log.turn is not None
    assert log.turn.heard == ["goodbye"]
    assert not log.turn.overlaps
