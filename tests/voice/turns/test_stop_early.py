"""Answers that are started while the last words are still spoken, frame by frame."""

import asyncio
from typing import Any

import pytest
from pipecat.frames.frames import TTSAudioRawFrame

from voice.frames import EarlySynthesisFrame


def ends(text: str) -> float:
    """Stands in for the model of the language."""
    return -0.5 if text.endswith(("jazz", "table")) else -2.0


async def test_words_that_read_like_an_end_are_answered_while_they_are_spoken(turn_rig: Any, embedded: Any) -> None:
    async with turn_rig.calling(embedded, wait=0.0, early=2.0, reads=ends) as call:
        await call.speaks()
        await call.eager("please play some")
        await call.audio(0.1)
        assert call.model.asked == []
        await call.eager("please play some jazz")
        await call.until(lambda: call.ear.of(EarlySynthesisFrame))
        await call.eager("Please, play some jazz.")
        await call.hint()
        await call.eager("please play some jazz")
        await call.audio(0.1)
        assert not call.ear.of(TTSAudioRawFrame)
        assert call.user_messages == []
        await call.stops()
        await call.final("Please play some jazz.")
        await call.audio(1.6)
        await call.until(lambda: call.answered)
        assert call.model.asked == ["please play some jazz"]
        (end,) = call.ends
        assert (end.speculated, end.early, end.discarded, end.confirmed) == (1, 1, 0, True)
        assert not call.ear.breaches


async def test_an_early_answer_is_discarded_as_soon_as_other_words_come(turn_rig: Any, embedded: Any) -> None:
    async with turn_rig.calling(embedded, wait=0.0, early=2.0, reads=ends) as call:
        await call.speaks()
        await call.eager("play some jazz")
        await call.until(lambda: call.ear.of(EarlySynthesisFrame))
        await call.eager("play some jazz my")
        await call.until(lambda: call.withdrawn == 1)
        await call.hint()
        await call.eager("play some jazz my friend")
        await call.audio(0.1)
        await call.stops()
        await call.final("play some jazz my friend")
        await call.audio(1.6)
        await call.until(lambda: call.answered)
        assert call.answered == ["play some jazz my friend"]
        (end,) = call.ends
        assert (end.speculated, end.early, end.discarded, end.confirmed) == (3, 1, 2, True)
        assert not call.ear.breaches


async def test_in_a_silence_words_that_read_like_an_end_do_not_wait_for_smart_turn(
    turn_rig: Any, embedded: Any
) -> None:
    async with turn_rig.calling(embedded, wait=0.0, early=2.0, reads=ends) as call:
        call.judge.wait = 60.0
        await call.speaks()
        await call.hint()
        await call.eager("play some jazz")
        await call.until(lambda: call.model.asked)


def in_doubt(_text: str) -> float:
    """Stands in for the model of the language, for words that could be all or not."""
    return -1.1


@pytest.mark.parametrize(("sound", "asked"), [(0.95, ["play some jazz"]), (0.1, [])])
async def test_where_the_voice_fades_smart_turn_decides_whether_words_in_doubt_are_answered(
    turn_rig: Any, embedded: Any, sound: float, asked: list[str]
) -> None:
    async with turn_rig.calling(embedded, wait=0.0, early=2.0, reads=in_doubt) as call:
        call.judge.probability = sound
        await call.speaks()
        await call.eager("play some jazz")
        await call.audio(0.1)
        assert call.model.asked == [], "nobody has judged the sound"
        await call.fades()
        await call.eager("play some jazz")
        await call.audio(0.2)
        assert call.model.asked == asked


async def test_words_that_are_there_before_smart_turn_answers_wait_for_it(turn_rig: Any, embedded: Any) -> None:
    async with turn_rig.calling(embedded, wait=0.0, early=2.0, reads=in_doubt) as call:
        call.judge.wait = 0.1
        await call.speaks()
        await call.fades()
        await call.eager("play some jazz")
        assert call.model.asked == []
        await call.until(lambda: call.model.asked)


async def test_a_verdict_on_an_earlier_fade_does_not_count(turn_rig: Any, embedded: Any) -> None:
    async with turn_rig.calling(embedded, wait=0.0, early=2.0, reads=in_doubt) as call:
        await call.speaks()
        await call.fades()
        await call.speaks(1.0)
        await call.eager("play some jazz")
        await call.audio(0.1)
        assert call.model.asked == []


async def test_a_fade_is_not_judged_before_it_has_lasted(turn_rig: Any, embedded: Any) -> None:
    async with turn_rig.calling(embedded, wait=0.0, early=2.0, reads=in_doubt) as call:
        await call.speaks()
        await call.fades(lasting=False)
        await call.eager("play some jazz")
        await call.audio(0.04)
        assert (call.judge.asked, call.model.asked) == (0, [])
        await call.fades()
        await call.eager("play some jazz")
        await call.until(lambda: call.model.asked == ["play some jazz"])
        assert call.judge.asked == 1


async def test_the_next_fade_forgets_the_verdict_on_the_one_before(turn_rig: Any, embedded: Any) -> None:
    async with turn_rig.calling(embedded, wait=0.0, early=2.0, reads=in_doubt) as call:
        await call.speaks()
        await call.fades()
        await call.until(lambda: call.judge.asked == 1)
        await call.audio(0.04)
        await call.fades(lasting=False)
        await call.eager("play some jazz")
        await call.audio(0.04)
        assert call.model.asked == []


async def test_a_verdict_on_the_fade_that_comes_in_the_silence_counts_at_once(turn_rig: Any, embedded: Any) -> None:
    async with turn_rig.calling(embedded, wait=0.0, early=2.0, reads=in_doubt) as call:
        call.judge.wait = 0.1
        await call.speaks()
        await call.fades()
        await call.hint()
        await call.eager("play some jazz")
        assert call.model.asked == []
        await call.until(lambda: call.model.asked)


async def test_the_words_and_the_sound_of_the_fade_are_used_at_the_hint(turn_rig: Any, embedded: Any) -> None:
    async with turn_rig.calling(embedded, wait=0.0, early=0.0, reads=ends) as call:
        await call.speaks()
        await call.fades()
        await call.eager("play some jazz")
        await call.audio(0.1)
        assert call.model.asked == []
        call.judge.wait = 60.0
        await call.hint()
        await call.until(lambda: call.model.asked)
        await call.eager("play some jam")
        await call.until(lambda: call.model.asked == ["play some jazz", "play some jam"])


@pytest.mark.parametrize("early", [None, 0.0])
async def test_no_answer_starts_early_unless_it_is_set_and_the_call_can_afford_it(
    turn_rig: Any, embedded: Any, early: float | None
) -> None:
    async with turn_rig.calling(embedded, wait=0.0, early=early, reads=ends) as call:
        await call.speaks()
        await call.eager("play some jazz")
        await call.audio(0.2)
        assert call.model.asked == []


async def test_a_tool_that_is_asked_for_early_runs_only_once_the_turn_is_over(turn_rig: Any, embedded: Any) -> None:
    async with turn_rig.calling(embedded, wait=0.0, tools=True, early=2.0, reads=ends) as call:
        await call.speaks()
        await call.eager("book a table")
        await call.until(lambda: call.model.asked)
        await asyncio.sleep(0.1)
        assert call.booked == []
        await call.hint()
        await call.stops()
        await call.final("book a table")
        await call.audio(1.6)
        await call.until(lambda: call.booked)
        assert call.booked == ["book a table"]
