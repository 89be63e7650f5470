"""Speculative answers, when something else happens at the same moment."""

import asyncio

import pytest
from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.frames.frames import (
    EagerEndOfTurnCancelFrame,
    Frame,
    InterruptionFrame,
    LLMContextFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    UserStartedSpeakingFrame,
    UserStoppedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.processors.frame_processor import FrameDirection
from pipecat.tests.utils import SleepFrame

from tests.voice.llm.answer import budgeted_rig as rig
from tests.voice.speculating import turn_rig
from voice.frames import EagerHintFrame, RequestsFrame
from voice.language.english.phrases import ENGLISH
from voice.llm.policy.tier_statistics import PROBE_EVERY, TokenBucket
from voice.llm.tools import describe
from voice.tts.piper.voice import Voice


@pytest.mark.parametrize("finished", [False, True])
async def test_an_interruption_within_a_turn_discards_the_speculative_answer_and_reports_it(finished: bool) -> None:
    async with rig.serving(rig.large(fault=None if finished else "keepalive")) as slow:
        call = rig.make_call("single", slow)

        def recovered() -> bool:
            slow.fault = None
            return True

        down = await call.run(
            [
                UserStartedSpeakingFrame(), rig.ask(speculation=True), lambda: call.records if finished else slow.asked,
                VADUserStoppedSpeakingFrame(stop_secs=0.2), InterruptionFrame(),
                lambda: call.pushed_of(EagerEndOfTurnCancelFrame), recovered, UserStoppedSpeakingFrame(), rig.ask(),
            ]
        )  # fmt: skip
    assert rig.said(down) == slow.text
    # Up and down: who began it must know that there is no answer to confirm.
    assert call.pushed_of(EagerEndOfTurnCancelFrame) == 2
    last = {record.answer.response: record for record in call.records}
    assert (last[0].answer.commit, last[0].attempts[0].outcome) == (None, "withdrawn")
    assert last[1].answer.limit in ("turn", "floor"), "the user's silence is still known"


async def test_a_turn_whose_speculative_answer_was_interrupted_is_still_answered(embedded: Voice) -> None:
    async with turn_rig.calling(embedded, wait=0.0) as call:
        await call.speaks()
        await call.hint()
        await call.eager("what time is it")
        await call.until(lambda: call.model.asked)
        # As when the client sends a text while its user speaks.
        await call.worker.queue_frame(InterruptionFrame())
        await call.audio(0.1)
        await call.stops()
        await call.final("what time is it")
        await call.until(lambda: call.answered)
        assert call.answered == ["what time is it"]
        assert (call.ends[0].confirmed, call.ends[0].discarded) == (False, 1)


async def test_a_turn_whose_speculative_request_was_lost_is_still_answered(embedded: Voice) -> None:
    async with turn_rig.calling(embedded, wait=0.0) as call:
        process, on_its_way = call.llm.process_frame, asyncio.Event()

        async def slowly(frame: Frame, direction: FrameDirection) -> None:
            if isinstance(frame, LLMContextFrame) and not on_its_way.is_set():
                on_its_way.set()
                await asyncio.sleep(1)
            await process(frame, direction)

        call.llm.process_frame = slowly
        await call.speaks()
        await call.hint()
        await call.eager("what time is it")
        await on_its_way.wait()
        await call.worker.queue_frame(InterruptionFrame())
        await call.audio(0.1)
        await call.stops()
        await call.final("what time is it")
        await call.until(lambda: call.answered)
        assert call.answered == ["what time is it"]
        assert (call.ends[0].confirmed, call.ends[0].discarded) == (False, 1)


async def test_the_budget_runs_from_the_end_of_the_turn_even_if_that_overtakes_the_context() -> None:
    async with rig.serving(rig.large(wait=0.5)) as slow:
        call = rig.make_call("single", slow, budget=rig.PATIENT)
        await call.run(
            [
                UserStartedSpeakingFrame(), rig.ask(), lambda: slow.asked, rig.ask(speculation=True),
                UserStoppedSpeakingFrame(), lambda: len(call.records) == 2,
            ]
        )  # fmt: skip
    first, second = call.records
    assert second.answer.commit is not None
    assert second.answer.commit < first.attempts[0].end < second.attempts[0].request
    assert second.answer.deadline == pytest.approx(second.answer.commit + rig.PATIENT)


@pytest.mark.parametrize("committed", [False, True])
async def test_two_speculative_requests_for_the_same_words_give_one_answer(committed: bool) -> None:
    async with rig.serving(rig.large(wait=0.5)) as slow:
        call = rig.make_call("single", slow, budget=rig.PATIENT)
        end, answered = UserStoppedSpeakingFrame(), lambda: slow.answered == 2
        down = await call.run(
            [
                UserStartedSpeakingFrame(), rig.ask(), lambda: slow.asked,
                # It overtakes the context that it withdraws.
                rig.ask(speculation=True), SleepFrame(0.02), EagerEndOfTurnCancelFrame(), rig.ask(speculation=True),
                *([end, answered] if committed else [answered, SleepFrame(0.1), end]),
            ]
        )  # fmt: skip
    assert rig.said(down) == slow.text * 2
    assert len(slow.asked) == 2


async def test_words_whose_answer_was_discarded_can_be_answered_speculatively_again() -> None:
    async with rig.serving(rig.large(fault="dribble once")) as slow:
        call = rig.make_call("single", slow, budget=rig.PATIENT)
        down = await call.run(
            [
                UserStartedSpeakingFrame(), rig.ask(speculation=True), lambda: slow.asked,
                EagerEndOfTurnCancelFrame(), rig.ask(speculation=True), lambda: slow.answered,
                UserStoppedSpeakingFrame(), SleepFrame(0.1),
            ]
        )  # fmt: skip
    assert rig.said(down) == slow.text
    assert len(slow.asked) == 2


async def test_a_tool_call_discarded_while_it_streams_never_runs_and_can_be_requested_again() -> None:
    ran: list[str] = []

    async def order_status() -> str:
        """Look up the caller's order."""
        ran.append("ran")
        return "on its way"

    tools = ToolsSchema(standard_tools=[describe(order_status)])
    async with rig.serving(rig.large(tool="order_status", fault="stall")) as slow:
        call = rig.make_call("single", slow, budget=rig.PATIENT)

        def recovered() -> bool:
            slow.fault = None
            return True

        await call.run(
            [
                UserStartedSpeakingFrame(), rig.ask(speculation=True, tools=tools), lambda: slow.asked, SleepFrame(0.1),
                EagerEndOfTurnCancelFrame(), lambda: slow.left, recovered, lambda: ran == [],
                rig.ask(speculation=True, tools=tools), lambda: slow.answered, UserStoppedSpeakingFrame(),
                lambda: ran, SleepFrame(0.05),
            ]
        )  # fmt: skip
    assert ran == ["ran"]
    assert call.records[0].attempts[0].outcome == "withdrawn"
    assert call.records[0].attempts[0].calls == ()


@pytest.mark.parametrize(("verdict", "heard"), [(UserStoppedSpeakingFrame, True), (EagerEndOfTurnCancelFrame, False)])
async def test_a_speculative_answer_that_breaks_off_is_completed_before_it_is_heard(
    verdict: type[Frame], heard: bool
) -> None:
    async with rig.serving(rig.large(fault="midfail")) as slow, rig.serving(rig.fast()) as quick:
        call = rig.make_call("fallback", slow, quick, budget=rig.PATIENT)
        down = await call.run(
            [
                UserStartedSpeakingFrame(), rig.ask(speculation=True), lambda: call.records,
                verdict(), SleepFrame(0.1),
            ]
        )  # fmt: skip
    assert rig.said(down) == (f"From the large model, {quick.text}" if heard else "")
    kinds = [type(frame) for frame in down]
    assert kinds.count(LLMFullResponseStartFrame) == kinds.count(LLMFullResponseEndFrame) == heard


@pytest.mark.parametrize(("verdict", "heard"), [(UserStoppedSpeakingFrame, True), (EagerEndOfTurnCancelFrame, False)])
async def test_when_every_tier_fails_speculatively_the_apology_waits_for_the_end_of_the_turn(
    verdict: type[Frame], heard: bool
) -> None:
    async with rig.serving(rig.large(fault="refuse")) as slow, rig.serving(rig.fast(fault="500")) as quick:
        call = rig.make_call("fallback", slow, quick)

        def failed() -> bool:
            frames = [frame for _, frame in call.pushed if isinstance(frame, RequestsFrame)]
            return len(frames[-1].attempts) == 2 if frames else False

        down = await call.run(
            [UserStartedSpeakingFrame(), rig.ask(speculation=True), failed, SleepFrame(0.2), verdict(), SleepFrame(0.5)]
        )
    assert rig.said(down) == (ENGLISH.not_answering if heard else "")
    assert bool(call.records[-1].answer.gave_up) is heard


@pytest.mark.parametrize("finished", [False, True])
async def test_an_interruption_right_after_the_end_of_the_turn_stops_only_that_answer(
    finished: bool,
) -> None:
    async with rig.serving(rig.large(fault=None if finished else "keepalive")) as slow:
        call = rig.make_call("single", slow, budget=rig.PATIENT)

        def recovered() -> bool:
            slow.fault = None
            return True

        down = await call.run(
            [
                UserStartedSpeakingFrame(), rig.ask(speculation=True), lambda: call.records if finished else slow.asked,
                UserStoppedSpeakingFrame(), UserStartedSpeakingFrame(), InterruptionFrame(), SleepFrame(0.1), recovered,
                UserStoppedSpeakingFrame(), rig.ask(), SleepFrame(0.1),
            ]
        )  # fmt: skip
    assert rig.said(down) == slow.text * (2 if finished else 1)
    assert call.pushed_of(EagerEndOfTurnCancelFrame) == 0
    last = {record.answer.response: record for record in call.records}
    assert last[0].answer.commit is not None
    assert last[0].attempts[0].outcome == ("spoken" if finished else "cancelled")
    assert last[1].attempts[0].outcome == "spoken"


async def test_a_speculative_answer_counts_as_a_turn_only_once_it_is_committed() -> None:
    async with rig.serving(rig.large(fault="silent")) as slow, rig.serving(rig.fast()) as quick:
        call = rig.make_call("adaptive", slow, quick)
        standing = call.book.standing["large"]
        for _ in range(6):
            standing.observe(False)
        for _ in range(PROBE_EVERY - 1):
            standing.turn(tried=False)
        call.book.hedges = TokenBucket(per_turn=1.0, most=1.0)
        call.book.hedges.take()

        def nothing_counted() -> bool:
            assert standing.probe_due
            assert not call.book.hedges.allows
            return True

        await call.run(
            [
                UserStartedSpeakingFrame(), rig.ask(speculation=True), lambda: len(slow.asked) == 1,
                EagerEndOfTurnCancelFrame(), lambda: slow.left, nothing_counted,
                rig.ask(speculation=True), lambda: len(slow.asked) == 2, nothing_counted,
                UserStoppedSpeakingFrame(), lambda: len(call.records) == 2,
            ]
        )  # fmt: skip
    assert "on trial" in call.records[1].answer.reason
    assert not standing.probe_due
    assert call.book.hedges.allows


async def test_a_hedge_request_of_a_discarded_answer_uses_the_allowance() -> None:
    async with rig.serving(rig.large(fault="silent")) as slow:
        call = rig.make_call("hedged", slow)
        call.book.observe("large", 0.05, reached=True)
        call.book.hedges = TokenBucket(per_turn=1.0, most=1.0)
        await call.run(
            [
                UserStartedSpeakingFrame(), rig.ask(speculation=True), lambda: len(slow.asked) == 2,
                EagerEndOfTurnCancelFrame(), lambda: len(slow.left) == 2,
            ]
        )  # fmt: skip
    assert not call.book.hedges.allows


async def test_an_answer_asked_for_while_the_user_speaks_has_a_deadline_from_the_hint_on() -> None:
    async with rig.serving(rig.large(fault="silent")) as slow, rig.serving(rig.fast()) as quick:
        call = rig.make_call("fallback", slow, quick)

        def not_rescued() -> bool:
            assert not quick.asked
            return True

        await call.run(
            [
                UserStartedSpeakingFrame(), rig.ask(speculation=True), lambda: slow.asked, SleepFrame(1.0), not_rescued,
                EagerHintFrame(silence=0.064), lambda: quick.asked, EagerEndOfTurnCancelFrame(), SleepFrame(0.1),
            ]
        )  # fmt: skip
    assert len(quick.asked) == 1
