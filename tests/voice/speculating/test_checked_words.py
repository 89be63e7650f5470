"""Answers wait for the check of the words that they answer, and follow the corrected ones."""

import asyncio

import pytest
from pipecat.frames.frames import TTSAudioRawFrame

from tests.voice.speculating.turn_rig import Call, calling, said
from voice.frames import AnswerHeldFrame
from voice.tts.piper.voice import Voice

SOON = 0.4
"""Seconds in which an answer that does not wait is heard."""


async def heard_nothing(call: Call, seconds: float = SOON) -> bool:
    await asyncio.sleep(seconds)
    return not call.ear.of(TTSAudioRawFrame)


async def turn(call: Call, text: str, limit: float = 20.0) -> int:
    """A turn whose final words are being checked; returns the number of the check."""
    await call.speaks()
    await call.audio(0.1)
    await call.hint()
    await call.eager(text)
    await call.audio(0.1)
    await call.stops()
    number = call.begins_check(limit)
    await call.final(text)
    await call.audio(0.1)
    await call.until(lambda: call.user_messages)
    return number


@pytest.mark.parametrize("speculate", [True, False])
async def test_an_answer_is_silent_until_its_words_are_checked(embedded: Voice, speculate: bool) -> None:
    async with calling(embedded, speculate=speculate) as call:
        number = await turn(call, "set a timer for fifteen minutes")
        assert await heard_nothing(call)
        call.check.end(number)
        await call.until(lambda: call.answered)
        assert call.answered == call.user_messages == ["set a timer for fifteen minutes"]
        (held,) = call.ear.of(AnswerHeldFrame)
        assert isinstance(held, AnswerHeldFrame)
        assert held.seconds > SOON / 2
        assert call.ear.breaches == []


@pytest.mark.parametrize("speculate", [True, False])
@pytest.mark.parametrize("wait", [0.05, 3.0])
async def test_corrected_words_are_answered_and_the_first_ones_never(
    embedded: Voice, speculate: bool, wait: float
) -> None:
    async with calling(embedded, speculate=speculate, wait=wait) as call:
        number = await turn(call, "set a timer for fifteen minutes")
        await call.until(lambda: call.model.asked)
        assert await heard_nothing(call, 0.1)
        await call.corrects(number, "set a timer for fifty minutes")
        await call.until(lambda: call.answered)
        assert call.answered == call.user_messages == ["set a timer for fifty minutes"]
        assert call.stop.turn.committed == "set a timer for fifty minutes"
        assert call.model.asked == ["set a timer for fifteen minutes", "set a timer for fifty minutes"]
        assert call.interruptions == 1  # the beginning of the turn
        last = {record.answer.response: record for record in call.records}
        assert [attempt.outcome for attempt in last[0].attempts] == ["withdrawn"]
        assert last[1].answer.commit == last[0].answer.commit


async def test_words_are_corrected_before_the_turn_is_over(embedded: Voice) -> None:
    async with calling(embedded) as call:
        call.judge.wait = 1.0
        await call.speaks()
        await call.audio(0.1)
        await call.stops()
        number = call.begins_check()
        await call.final("set a timer for fifteen minutes")
        await call.corrects(number, "set a timer for fifty minutes")
        await call.audio(1.5)
        await call.until(lambda: call.answered)
        assert call.answered == call.user_messages == ["set a timer for fifty minutes"]
        assert not call.check.is_pending


async def test_an_answer_waits_no_longer_than_the_limit(embedded: Voice) -> None:
    async with calling(embedded) as call:
        number = await turn(call, "what time is it", limit=0.1)
        await call.until(lambda: call.answered)
        assert call.dropped == ["late"]
        await call.corrects(number, "what day is it")
        await call.audio(0.2)
        assert call.answered == call.user_messages == ["what time is it"]


async def test_an_answer_with_irreversible_tools_waits_without_a_limit(embedded: Voice) -> None:
    async with calling(embedded, strict=True) as call:
        number = await turn(call, "what time is it", limit=0.05)
        assert await heard_nothing(call)
        assert call.dropped == []
        call.check.end(number)
        await call.until(lambda: call.answered)


@pytest.mark.parametrize("corrected", [False, True])
async def test_a_tool_runs_only_for_checked_words(embedded: Voice, corrected: bool) -> None:
    async with calling(embedded, tools=True) as call:
        number = await turn(call, "book fifteen tables")
        await asyncio.sleep(SOON)
        assert call.booked == []
        if corrected:
            await call.corrects(number, "book fifty tables")
        else:
            call.check.end(number)
        await call.until(lambda: call.booked)
        await call.until(lambda: call.answered)
        assert call.booked == ["book fifty tables" if corrected else "book fifteen tables"]


async def test_a_dropped_check_changes_nothing(embedded: Voice) -> None:
    async with calling(embedded) as call:
        number = await turn(call, "what time is it")
        call.check.drop("shed")
        await call.corrects(number, "what day is it")
        await call.until(lambda: call.answered)
        assert call.answered == call.user_messages == ["what time is it"]


async def test_the_caller_goes_on_while_the_answer_waits(embedded: Voice) -> None:
    async with calling(embedded) as call:
        await turn(call, "set a timer")
        assert await heard_nothing(call, 0.1)
        await call.speaks()
        call.check.drop()  # as the recogniser does
        await call.audio(0.1)
        await call.stops()
        await call.final("for ten minutes")
        await call.audio(1.2)
        await call.until(lambda: "set a timer for ten minutes" in call.answered)
        assert call.user_messages == ["set a timer for ten minutes"]


async def test_corrected_words_can_go_on(embedded: Voice) -> None:
    async with calling(embedded, wait=3.0) as call:
        number = await turn(call, "set the time")
        await call.corrects(number, "set a timer")
        await call.until(lambda: call.user_messages == ["set a timer"])
        await call.speaks()
        await call.audio(0.1)
        await call.stops()
        await call.final("for ten minutes")
        await call.audio(1.2)
        await call.until(lambda: call.user_messages == ["set a timer for ten minutes"])


async def test_the_next_turn_does_not_wait_for_the_last_check(embedded: Voice) -> None:
    async with calling(embedded) as call:
        number = await turn(call, "what time is it")
        call.check.end(number)
        await call.until(lambda: call.answered)
        await asyncio.sleep(0.1)
        await said(call, "what day is it")
        await call.audio(0.3)
        await call.until(lambda: len(call.answered) == 2)
        assert "what day is it" in call.answered[-1]


async def test_a_check_of_words_that_are_no_turn_corrects_no_other(embedded: Voice) -> None:
    async with calling(embedded) as call:
        number = await turn(call, "what time is it")
        call.check.end(number)
        await call.until(lambda: call.answered)
        later = call.begins_check()
        await call.final("hm")
        await call.corrects(later, "mm-hm")
        await call.audio(0.1)
        assert call.user_messages == ["what time is it"]
