"""When an answer is due, on a manual clock."""

from dataclasses import replace

import pytest
from pipecat.frames.frames import (
    InterruptionFrame,
    UserStartedSpeakingFrame,
    UserStoppedSpeakingFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)

from latency.budget import DETECTOR_LAG, Budget
from voice.frames import EagerHintFrame, SpeechResumedFrame, TurnEndFrame
from voice.llm.answer.deadline import TurnDeadline

LEFT = Budget().total - Budget().synthesis - Budget().transport
"""What a turn leaves the model and everything before it."""


def test_a_hint_says_when_the_answer_would_be_due_until_the_user_goes_on() -> None:
    turn = TurnDeadline(Budget())
    assert turn.ahead() is None
    turn.follow(EagerHintFrame(silence=0.1), 10.0)
    due = turn.ahead()
    assert due is not None
    assert due.at == pytest.approx(10.0 - 0.1 - DETECTOR_LAG + LEFT)
    turn.follow(SpeechResumedFrame(), 10.1)
    assert turn.ahead() is None


def test_what_is_known_of_the_silence_is_used_up_by_one_answer() -> None:
    turn = TurnDeadline(Budget(), synthesis_p95=lambda: 0.2)
    turn.follow(VADUserStartedSpeakingFrame(), 9.0)
    turn.follow(VADUserStoppedSpeakingFrame(stop_secs=0.2), 10.0)
    first, second = turn.commit(10.05, fast_p95=0.1), turn.commit(12.0, fast_p95=0.1)
    assert (first.limit, second.limit) == ("turn", "llm")
    assert first.at == pytest.approx(10.0 - 0.2 - DETECTOR_LAG + 0.8 - 0.2 - 0.07)
    assert second.at == pytest.approx(12.0 + Budget().llm)


def test_what_ended_a_turn_is_charged_after_its_commit_and_moves_nothing_else() -> None:
    turn = TurnDeadline(Budget())
    turn.follow(VADUserStartedSpeakingFrame(), 9.0)
    turn.follow(VADUserStoppedSpeakingFrame(stop_secs=0.2), 10.0)
    assert turn.charged(TurnEndFrame(silence=1.4)) is None, "nothing is committed yet"
    first = turn.commit(11.2, fast_p95=0.1)
    assert (first.limit, first.charged) == ("floor", "transcription"), "until it is known that the silence took long"
    assert turn.charged(TurnEndFrame(silence=1.4)) == replace(first, charged="endpointing")
    turn.follow(VADUserStartedSpeakingFrame(), 12.0)
    assert turn.charged(TurnEndFrame(silence=1.4)) is None, "a new turn has begun"


def test_a_turn_waits_for_its_answer_from_its_end_to_its_commit() -> None:
    turn = TurnDeadline(Budget())
    turn.follow(UserStoppedSpeakingFrame(), 10.0)
    assert turn.ended == 10.0
    turn.commit(10.0, fast_p95=None)
    assert turn.ended is None
    turn.follow(UserStoppedSpeakingFrame(), 20.0)
    turn.follow(UserStartedSpeakingFrame(), 21.0)
    assert turn.ended is None


def test_an_interruption_behind_the_end_of_a_turn_leaves_nothing_of_its_silence_to_the_next_context() -> None:
    turn = TurnDeadline(Budget())
    turn.follow(VADUserStoppedSpeakingFrame(stop_secs=0.2), 10.0)
    turn.follow(UserStoppedSpeakingFrame(), 10.0)
    turn.follow(InterruptionFrame(), 40.0)
    assert turn.commit(40.0, fast_p95=0.1).limit == "llm"


def test_an_interruption_at_the_start_of_a_turn_leaves_its_silence_known() -> None:
    turn = TurnDeadline(Budget())
    turn.follow(VADUserStoppedSpeakingFrame(stop_secs=0.2), 10.0)
    turn.follow(UserStartedSpeakingFrame(), 10.1)
    turn.follow(InterruptionFrame(), 10.1)
    turn.follow(UserStoppedSpeakingFrame(), 10.2)
    assert turn.commit(10.2, fast_p95=0.1).limit == "turn"
