"""The budgeted service answers speculatively, and its budget runs from the commit."""

import pytest
from pipecat.frames.frames import (
    EagerEndOfTurnCancelFrame,
    LLMFullResponseStartFrame,
    UserStartedSpeakingFrame,
    UserStoppedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.tests.utils import SleepFrame

from tests.voice.llm.answer import budgeted_rig as rig
from voice.frames import TurnEndFrame


async def test_a_speculative_answer_is_silent_and_has_no_budget_until_the_commit() -> None:
    async with rig.serving(rig.large()) as slow, rig.serving(rig.fast()) as quick:
        call = rig.make_call("fallback", slow, quick, budget=0.3)
        down = await call.run(
            [
                UserStartedSpeakingFrame(), rig.ask(speculation=True), lambda: slow.answered, SleepFrame(sleep=0.6),
                VADUserStoppedSpeakingFrame(stop_secs=0.2), UserStoppedSpeakingFrame(), lambda: call.records,
            ]
        )  # fmt: skip
    kinds = [type(frame) for frame in down]
    assert kinds.index(LLMFullResponseStartFrame) > kinds.index(UserStoppedSpeakingFrame)
    assert rig.said(down) == slow.text
    assert quick.asked == []
    assert rig.holds(down) == []


async def test_the_budget_of_a_slow_speculative_answer_runs_from_the_commit() -> None:
    async with rig.serving(rig.large(fault="silent")) as slow, rig.serving(rig.fast()) as quick:
        call = rig.make_call("fallback", slow, quick)
        down = await call.run(
            [
                UserStartedSpeakingFrame(), rig.ask(speculation=True), lambda: slow.asked, SleepFrame(sleep=0.3),
                UserStoppedSpeakingFrame(), lambda: call.records,
            ]
        )  # fmt: skip
    assert rig.said(down) == quick.text
    (record,) = call.records
    assert record.answer.commit is not None
    assert record.answer.commit - record.attempts[0].request > 0.2
    assert record.attempts[1].request > record.answer.commit
    assert record.answer.deadline == pytest.approx(record.answer.commit + 0.45)


async def test_a_discarded_speculative_answer_is_cancelled_and_never_heard() -> None:
    async with rig.serving(rig.large(fault="keepalive")) as slow, rig.serving(rig.fast()) as quick:
        call = rig.make_call("race", slow, quick)
        down = await call.run(
            [
                UserStartedSpeakingFrame(), rig.ask(speculation=True), lambda: slow.asked,
                EagerEndOfTurnCancelFrame(), lambda: slow.left, UserStoppedSpeakingFrame(), SleepFrame(sleep=0.1),
            ]
        )  # fmt: skip
    assert rig.said(down) == ""
    assert call.records[0].answer.commit is None


async def test_a_late_commit_leaves_less_time_and_charges_no_stage_until_the_floor() -> None:
    async with rig.serving(rig.large()) as slow, rig.serving(rig.fast()) as quick:
        call = rig.make_call("fallback", slow, quick)
        await call.run([VADUserStoppedSpeakingFrame(stop_secs=0.2), SleepFrame(sleep=0.1), rig.ask(), rig.ask()])
    first, second = call.records
    assert first.answer.commit is not None
    assert first.answer.deadline is not None
    assert second.answer.commit is not None
    assert first.answer.limit == "turn"
    assert first.answer.deadline - first.answer.commit < 0.4
    assert second.answer.limit == "llm"
    assert second.answer.deadline == pytest.approx(second.answer.commit + 0.45)


NEEDED = [(0.8, "endpointing"), (0.2, "transcription"), (None, "transcription")]
"""Seconds of silence that a turn needed, of 0.85 s until its commit, and the stage that spent the rest."""


@pytest.mark.parametrize(("needed", "charged"), NEEDED)
async def test_the_wait_for_silence_is_charged_to_endpointing_and_not_to_the_recogniser(
    needed: float | None, charged: str
) -> None:
    async with rig.serving(rig.large()) as slow, rig.serving(rig.fast()) as quick:
        call = rig.make_call("fallback", slow, quick)
        stop = VADUserStoppedSpeakingFrame(stop_secs=0.2)
        # The order in a call without speculation.
        await call.run(
            [stop, SleepFrame(sleep=0.65), UserStoppedSpeakingFrame(), TurnEndFrame(silence=needed), rig.ask()]
        )
    (record,) = call.records
    assert (record.answer.limit, record.answer.charged) == ("floor", charged)


@pytest.mark.parametrize(("needed", "charged"), NEEDED)
async def test_the_wait_for_silence_of_a_speculative_answer_is_charged_to_endpointing_too(
    needed: float | None, charged: str
) -> None:
    async with rig.serving(rig.large()) as slow, rig.serving(rig.fast()) as quick:
        call = rig.make_call("fallback", slow, quick)
        # A large tier that usually answers within its budget would have all of it.
        for _ in range(3):
            call.book.observe("large", 3.0, reached=True)
        # The order in a call: the end of the turn, which releases the answer, overtakes what ended the turn.
        await call.run(
            [
                VADUserStoppedSpeakingFrame(stop_secs=0.2), rig.ask(speculation=True), lambda: slow.asked,
                SleepFrame(sleep=0.65), UserStoppedSpeakingFrame(), TurnEndFrame(silence=needed),
                lambda: call.records and call.records[-1].answer.limit,
            ]
        )  # fmt: skip
    answer = call.records[-1].answer
    assert (answer.limit, answer.charged) == ("floor", charged)
