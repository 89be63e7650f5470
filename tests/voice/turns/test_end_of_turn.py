"""When turns end, what is answered speculatively, and that no unconfirmed answer is heard; frame by frame."""

import asyncio
from typing import Any

import pytest
from pipecat.frames.frames import LLMContextAssistantTurnFrame, TTSAudioRawFrame

from tests.voice.speculating.turn_rig import said
from voice.frames import EarlySynthesisFrame, NothingHeardFrame, OwnVoiceFrame, RecogniserFailedFrame
from voice.turns.endpointing import LEAD_IN_SILENCE


async def test_an_answer_started_at_the_hint_is_heard_after_the_end_of_the_turn(turn_rig: Any, embedded: Any) -> None:
    async with turn_rig.calling(embedded, wait=0.0) as call:
        await call.speaks()
        await call.hint()
        await call.eager("what time is it")
        await call.until(lambda: call.ear.of(EarlySynthesisFrame))
        assert call.model.asked == ["what time is it"]
        assert call.user_messages == []
        await call.stops()
        assert not call.ear.of(TTSAudioRawFrame)
        await call.final("What time is it.")
        await call.until(lambda: call.answered)
        assert call.model.asked == ["what time is it"]  # once
        assert call.user_messages == ["What time is it."]
        (end,) = call.ends
        assert (end.ended_by, end.confirmed, end.speculated, end.discarded) == ("smart_turn", True, 1, 0)
        await call.until(lambda: any(record.final and record.answer.commit for record in call.records))
        record = call.records[-1]
        assert record.attempts[0].request < record.answer.commit < record.answer.deadline
        assert record.attempts[0].outcome == "spoken"
        assert not call.ear.breaches


async def test_smart_turn_is_asked_once_a_silence_at_the_hint(turn_rig: Any, embedded: Any) -> None:
    async with turn_rig.calling(embedded) as call:
        await said(call, "what time is it")
        await call.until(lambda: call.ends)
        assert call.judge.asked == 1


async def test_the_answer_is_discarded_when_the_speaker_goes_on(turn_rig: Any, embedded: Any) -> None:
    async with turn_rig.calling(embedded, wait=0.0) as call:
        await call.speaks()
        await call.hint()
        await call.eager("what time is it")
        await call.until(lambda: call.ear.of(EarlySynthesisFrame))
        await call.resumes()
        await call.until(lambda: call.withdrawn == 1)
        await call.audio(0.1)
        assert call.ends == []
        await call.hint()
        await call.stops()
        await call.final("what time is it in Rome")
        await call.until(lambda: call.answered)
        assert call.answered == ["what time is it in Rome"]
        assert call.user_messages == ["what time is it in Rome"]
        assert [record.attempts[0].outcome for record in call.records if record.answer.response == 0][-1] == "withdrawn"
        assert (call.ends[0].speculated, call.ends[0].confirmed) == (1, False)
        assert not call.ear.breaches


async def test_a_final_transcript_with_other_words_is_answered_again(turn_rig: Any, embedded: Any) -> None:
    async with turn_rig.calling(embedded) as call:
        await call.speaks()
        await call.hint()
        await call.eager("wreck a nice beach")
        await call.until(lambda: call.model.asked)
        await call.stops()
        await call.final("recognise speech")
        await call.until(lambda: call.answered)
        assert call.answered == ["recognise speech"]
        assert (call.ends[0].speculated, call.ends[0].discarded, call.ends[0].confirmed) == (1, 1, False)
        assert not call.ear.breaches


async def test_a_tool_runs_only_once_the_turn_is_over(turn_rig: Any, embedded: Any) -> None:
    async with turn_rig.calling(embedded, wait=0.0, tools=True) as call:
        await call.speaks()
        await call.hint()
        await call.eager("book a table")
        await call.until(lambda: call.model.asked)
        await asyncio.sleep(0.1)
        assert call.booked == []
        await call.stops()
        await call.final("book a table")
        await call.until(lambda: call.booked)
        assert call.booked == ["book a table"]
        assert call.model.asked[0] == "book a table"
        # The speculative request gave the tool call and was not repeated.
        assert call.model.asked.count("book a table") == 1


async def test_a_tool_of_a_discarded_answer_never_runs(turn_rig: Any, embedded: Any) -> None:
    async with turn_rig.calling(embedded, wait=0.0, tools=True) as call:
        await call.speaks()
        await call.hint()
        await call.eager("book a table")
        await call.until(lambda: call.model.asked)
        await call.resumes()
        await call.hint()
        await call.stops()
        await call.final("book a table for two")
        await call.until(lambda: call.booked)
        assert call.booked == ["book a table for two"]


async def test_doubtful_words_wait_for_silence_and_are_answered_in_the_meantime(turn_rig: Any, embedded: Any) -> None:
    async with turn_rig.calling(embedded, wait=0.0) as call:
        call.judge.probability, call.tempo = 0.02, 0.2
        await call.speaks()
        await call.hint()
        await call.eager("I would like")
        await call.audio(0.1)
        await call.stops()
        await call.final("I would like")
        await call.audio(0.04)
        assert not call.ends
        await call.audio(1.2)
        await call.until(lambda: call.answered)
        (end,) = call.ends
        assert end.ended_by == "fallback"
        assert 0.4 < end.silence <= 1.2
        assert end.confirmed
        assert call.answered == ["I would like"]


async def test_a_possible_start_of_speech_does_not_count_as_silence(turn_rig: Any, embedded: Any) -> None:
    async with turn_rig.calling(embedded, speculate=False) as call:
        call.judge.probability, call.tempo = 0.0, 0.1
        await call.speaks()
        await call.hint()
        await call.stops()
        await call.final("I would like")
        call.stop._vad.may_be_starting = True
        await call.audio(2.0)
        assert not call.ends
        call.stop._vad.may_be_starting = False
        # The word may come at the second try.
        await call.audio(0.8)
        assert not call.ends
        await call.audio(1.4)
        await call.until(lambda: call.ends)


async def test_no_turn_is_committed_while_the_latest_sound_is_in_doubt(turn_rig: Any, embedded: Any) -> None:
    async with turn_rig.calling(embedded, speculate=False) as call:
        call.judge.probability, call.tempo = 0.0, 0.1
        await call.speaks()
        await call.hint()
        await call.stops()
        await call.final("I would like")
        call.stop._vad.in_doubt = True
        await call.audio(2.0)
        assert not call.ends
        call.stop._vad.in_doubt = False
        # The doubtful sound counts as silence in the end.
        await call.audio(0.02)
        await call.until(lambda: call.ends)
        assert call.ends[0].silence == pytest.approx(2.2, abs=0.05)


async def test_a_doubt_does_not_delay_the_end_when_no_more_audio_comes(turn_rig: Any, embedded: Any) -> None:
    async with turn_rig.calling(embedded, speculate=False) as call:
        await call.speaks()
        await call.hint()
        call.stop._vad.in_doubt = True
        await call.stops()
        await call.final("what time is it")
        await call.until(lambda: call.ends)
        assert call.ends[0].silence == 0.2


async def test_two_stretches_of_speech_are_one_turn(turn_rig: Any, embedded: Any) -> None:
    async with turn_rig.calling(embedded) as call:
        call.judge.probability = 0.0
        await said(call, "I would like")
        await call.audio(0.1)
        await call.speaks()
        call.judge.probability = 0.99
        await call.hint()
        await call.eager("some tea")
        await call.stops()
        await call.final("some tea")
        await call.until(lambda: call.answered)
        assert call.answered == ["I would like some tea"]
        assert call.user_messages == ["I would like some tea"]
        assert 0.3 < max(call.stop.turn.pauses) < 0.6
        assert not call.ear.breaches


async def test_a_lead_in_and_the_request_after_a_pause_are_one_turn(turn_rig: Any, embedded: Any) -> None:
    async with turn_rig.calling(embedded) as call:
        call.tempo = 0.2
        await said(call, "hello")
        await call.audio(0.3)  # and 0.2 s, after which the voice detector reported the stop
        assert not call.ends
        await said(call, "set a timer for ten minutes")
        await call.audio(0.8)
        await call.until(lambda: call.answered)
        assert call.user_messages == call.answered == ["hello set a timer for ten minutes"]
        await call.until(lambda: call.ends)
        assert len(call.ends) == 1


async def test_a_lead_in_alone_is_answered_after_a_longer_silence(turn_rig: Any, embedded: Any) -> None:
    async with turn_rig.calling(embedded) as call:
        call.tempo = 0.2
        await said(call, "hello")
        await call.audio(0.8)
        await call.until(lambda: call.answered)
        assert call.answered == ["hello"]
        assert call.ends[0].silence == pytest.approx(LEAD_IN_SILENCE, abs=0.03)


async def test_a_yes_ends_the_turn_at_once_when_the_agent_asked_for_it(turn_rig: Any, embedded: Any) -> None:
    async with turn_rig.calling(embedded) as call:
        call.model.ending = "Shall I book it?"
        call.judge.probability = 0.99
        await said(call, "two seats for tonight")
        await call.until(lambda: any("Shall" in str(m["content"]) for m in call.context.get_messages()))
        call.judge.probability, call.tempo = 0.0, 0.1
        await call.audio(1.6)
        await said(call, "yes")
        await call.until(lambda: len(call.ends) == 2)
        assert (call.ends[1].ended_by, call.ends[1].silence) == ("whole_request", 0.2)


async def test_a_number_that_was_asked_for_is_waited_for_between_its_groups(turn_rig: Any, embedded: Any) -> None:
    async with turn_rig.calling(embedded, speculate=False) as call:
        call.tempo = 0.1
        call.judge.probability = 0.3
        await call.tell(LLMContextAssistantTurnFrame(text="What is your phone number?", timestamp=""))
        await said(call, "five five five")
        await call.audio(0.8)
        assert not call.ends
        await said(call, "oh one two")
        await call.audio(0.8)
        assert not call.ends
        call.judge.probability = 0.99
        await said(call, "seven seven three one")
        # By now the caller's own pauses count too.
        await call.audio(2.0)
        await call.until(lambda: call.answered)
        assert call.answered == ["five five five oh one two seven seven three one"]


async def test_a_late_transcript_does_not_start_another_turn(turn_rig: Any, embedded: Any) -> None:
    async with turn_rig.calling(embedded) as call:
        await said(call, "what time is it")
        await call.until(lambda: call.answered)
        await call.final("straggler")
        await asyncio.sleep(0.1)
        assert len(call.ends) == 1
        assert call.interruptions == 1  # the one at the turn's start


async def test_a_turn_without_words_ends_unanswered_and_its_speculative_answer_is_discarded(
    turn_rig: Any, embedded: Any
) -> None:
    async with turn_rig.calling(embedded) as call:
        await call.speaks()
        await call.hint()
        await call.eager("uh")
        await call.until(lambda: call.model.asked)
        await call.stops()
        await call.tell(NothingHeardFrame())
        await call.until(lambda: call.ends)
        assert call.ends[0].ended_by == "nothing_heard"
        assert (call.ends[0].discarded, call.ends[0].confirmed) == (1, False)


async def test_a_turn_that_was_the_agents_own_voice_ends_and_nothing_is_asked(turn_rig: Any, embedded: Any) -> None:
    async with turn_rig.calling(embedded) as call:
        await call.speaks()
        await call.stops()
        await call.tell(OwnVoiceFrame())
        await call.until(lambda: call.ends)
        assert call.ends[0].ended_by == "own_voice"
        await said(call, "that is all")
        await call.until(lambda: call.answered)
        assert call.answered == ["that is all"]


async def test_a_cough_after_the_words_does_not_delay_the_end(turn_rig: Any, embedded: Any) -> None:
    async with turn_rig.calling(embedded) as call:
        call.judge.probability = 0.0
        await said(call, "that is all")
        await call.speaks()
        call.judge.probability = 0.99
        await call.hint()
        await call.stops()
        await call.tell(NothingHeardFrame())
        await call.until(lambda: call.answered)
        assert call.answered == ["that is all"]


async def test_a_failed_recogniser_ends_the_turn_with_its_reason(turn_rig: Any, embedded: Any) -> None:
    async with turn_rig.calling(embedded) as call:
        await call.speaks()
        await call.stops()
        await call.tell(RecogniserFailedFrame(reason="it broke"))
        await call.until(lambda: call.ends)
        assert (call.ends[0].ended_by, call.ends[0].failed) == ("recogniser_failed", "it broke")


async def test_no_answer_starts_speculatively_while_others_wait_or_the_loop_lags(turn_rig: Any, embedded: Any) -> None:
    async with turn_rig.calling(embedded) as call:
        call.stop._waiting.begin(12345, asyncio.get_running_loop().time())
        await said(call, "what time is it")
        await call.until(lambda: call.answered)
        call.stop._waiting.end(12345)
        call.stop._lagging = lambda: True
        await said(call, "goodbye")
        await call.audio(0.8)
        await call.until(lambda: len(call.answered) == 2)
        assert [end.speculated for end in call.ends] == [0, 0]


async def test_speculation_can_be_switched_off(turn_rig: Any, embedded: Any) -> None:
    async with turn_rig.calling(embedded, speculate=False) as call:
        await said(call, "what time is it")
        await call.until(lambda: call.answered)
        assert call.ends[0].speculated == 0
        assert call.withdrawn == 0


async def test_a_turn_that_was_cut_off_shows_how_the_caller_pauses(turn_rig: Any, embedded: Any) -> None:
    async with turn_rig.calling(embedded) as call:
        await said(call, "I would like")
        await call.until(lambda: call.ends)
        await call.audio(0.3)
        await call.speaks()
        await call.hint()
        await call.stops()
        await call.final("some tea")
        assert len(call.ends) == 1
        await call.audio(0.8)
        await call.until(lambda: len(call.ends) == 2)
        assert 0.45 < max(call.stop.turn.pauses) < 0.6
