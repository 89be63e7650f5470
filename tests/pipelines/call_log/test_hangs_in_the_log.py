"""Where a part that hung is noted."""

import pytest

from latency.record.marks import Mark
from latency.record.turn import HangRecord, Part
from pipelines.call_log.turn_log import TurnLog

REASON = "the recogniser gave no text for 8 s"


def committed() -> TurnLog:
    log = TurnLog(tier="a")
    log.turn_opened(10)
    log.speech_stopped(11, 0.2)
    log.heard(11.1, "what time is it")
    log.asked(11.2)
    return log


def test_it_belongs_to_the_turn_that_waits_for_it() -> None:
    log = committed()
    hang = HangRecord(part="language model", at=20.0, seconds=8.8)
    turn = log.hung(hang, "the language model gave no text for 9 s", 20)
    report = turn.report().turn
    assert (report.turn, report.hung, report.failed) == (0, hang, "the language model gave no text for 9 s")
    assert not report.answer_pending
    assert not report.final, "the reason is still to be spoken"


@pytest.mark.parametrize(("part", "number"), [("recogniser", 1), ("tool", 0)])
def test_after_a_finished_turn_it_is_the_callers_next_words_that_are_lost(part: Part, number: int) -> None:
    log = committed()
    log.speech_begun(11.5, "It is noon.", "context")
    log.speech_made(11.6, 1.0, "context")
    log.agent_started(11.7)
    log.agent_stopped(13)
    assert log.hung(HangRecord(part=part), REASON, 30).number == number


def test_a_call_in_which_no_turn_could_begin() -> None:
    report = TurnLog(tier="a").hung(HangRecord(part="voice detector", ended_call=True), REASON, 30).report().turn
    assert (report.turn, report.failed, report.final) == (0, REASON, True)
    assert Mark.TURN_COMMIT not in report.marks
