"""What is said soon after the commit joins the turn: one message, answered anew; frame by frame."""

from typing import Any

import pytest
from pipecat.frames.frames import TTSTextFrame

from tests.voice.speculating.turn_rig import said
from voice.frames import NothingHeardFrame, TurnJoinsFrame
from voice.llm.interruption import BROKEN_OFF


def messages(call: Any) -> list[Any]:
    return list(call.context.get_messages())


async def cut_off(call: Any, text: str) -> None:
    """A turn that is committed, and 0.3 s later, in which the agent is not heard, the caller goes on."""
    await said(call, text)
    await call.until(lambda: call.ends)
    await call.audio(0.1)


async def test_what_is_said_soon_after_the_commit_joins_the_turn(turn_rig: Any, embedded: Any) -> None:
    async with turn_rig.calling(embedded, wait=0.0) as call:
        await cut_off(call, "set a timer")
        await call.until(lambda: call.user_messages)
        assert call.user_messages == ["set a timer"]
        await call.speaks()
        await call.until(lambda: call.ear.of(TurnJoinsFrame))
        assert call.user_messages == []
        await call.hint()
        await call.eager("for ten minutes")
        await call.stops()
        await call.final("for ten minutes")
        await call.audio(0.8)
        await call.until(lambda: len(call.ends) == 2)
        await call.until(lambda: "set a timer for ten minutes" in call.answered)
        assert call.user_messages == ["set a timer for ten minutes"]
        assert call.model.asked[-1] == "set a timer for ten minutes"
        assert not call.ear.breaches


async def test_the_heard_words_of_the_first_answer_are_kept_and_marked(turn_rig: Any, embedded: Any) -> None:
    async with turn_rig.calling(embedded, wait=0.5) as call:
        call.model.ending = "And so on. " * 30
        await cut_off(call, "set a timer")
        await call.until(lambda: call.ear.of(TTSTextFrame))
        await said(call, "for ten minutes")
        await call.audio(0.8)
        await call.until(lambda: len(call.user_messages) == 1 and "ten" in call.user_messages[0])
        roles = [message["role"] for message in call.context.get_messages()][:2]
        first = call.context.get_messages()[0]["content"]
        assert roles == ["assistant", "user"]
        assert first.startswith("I")
        assert first.endswith(BROKEN_OFF)
        assert call.user_messages == ["set a timer for ten minutes"]


async def test_a_noise_after_the_commit_has_the_same_words_answered_again(turn_rig: Any, embedded: Any) -> None:
    async with turn_rig.calling(embedded) as call:
        await cut_off(call, "what time is it")
        await call.speaks()
        await call.hint()
        await call.stops()
        await call.tell(NothingHeardFrame())
        await call.audio(0.8)
        await call.until(lambda: len(call.ends) == 2)
        await call.until(lambda: call.answered)
        assert call.user_messages == ["what time is it"]


async def test_a_tool_that_ran_stays_in_the_conversation(turn_rig: Any, embedded: Any) -> None:
    async with turn_rig.calling(embedded, tools=True) as call:
        await cut_off(call, "book a table")
        await call.until(lambda: call.booked)
        await call.until(lambda: any(m["role"] == "tool" and m["content"] != "IN_PROGRESS" for m in messages(call)))
        await said(call, "for two")
        await call.audio(0.8)
        await call.until(lambda: len(call.booked) == 2)
        assert call.booked == ["book a table", "book a table for two"]
        assert call.user_messages == ["book a table for two"]
        assert [m["role"] for m in messages(call)][:2] == ["assistant", "tool"]
        assert "book a table" in str(messages(call)[0]["tool_calls"])


async def test_a_revised_text_is_all_that_the_conversation_and_the_model_get(turn_rig: Any, embedded: Any) -> None:
    async with turn_rig.calling(embedded, wait=0.0) as call:
        call.judge.probability = 0.01
        await call.speaks()
        await call.stops()
        await call.final("Remember that my car up.")
        await call.audio(0.3)
        assert not call.ends
        call.judge.probability = 0.99
        await call.speaks()
        await call.hint()
        await call.eager("Remember that my car is on level 3.", revised=True)
        await call.stops()
        await call.final("Remember that my car is on level 3.", revised=True)
        await call.audio(0.8)
        await call.until(lambda: call.answered)
        assert call.user_messages == ["Remember that my car is on level 3."]
        assert call.model.asked[-1] == "Remember that my car is on level 3."
        assert set(call.model.asked) <= {"Remember that my car up.", "Remember that my car is on level 3."}
        assert call.answered == ["Remember that my car is on level 3"]
        assert len(call.ends) == 1


async def test_a_sentence_mark_at_a_join_goes_where_the_words_go_on_in_lower_case(turn_rig: Any, embedded: Any) -> None:
    async with turn_rig.calling(embedded, wait=0.0) as call:
        await cut_off(call, "What is 20%?")
        await call.until(lambda: call.user_messages)
        await said(call, "of 50?")
        await call.audio(0.8)
        await call.until(lambda: len(call.ends) == 2)
        await call.until(lambda: "What is 20% of 50?" in call.user_messages)
        assert call.user_messages == ["What is 20% of 50?"]
        assert call.model.asked[-1] == "What is 20% of 50?"


@pytest.mark.parametrize("heard", ["", "uh huh huh huh", "mm hmm"])
async def test_sounds_before_the_answer_ask_for_nothing_again(turn_rig: Any, embedded: Any, heard: str) -> None:
    async with turn_rig.calling(embedded, by_words=True) as call:
        await cut_off(call, "what time is it")
        await call.speaks(0.5)
        await call.hint()
        await call.stops()
        await (call.final(heard) if heard else call.tell(NothingHeardFrame()))
        await call.until(lambda: "resume" in call.mouth.told)
        await call.audio(0.8)
        await call.until(lambda: call.answered)
        assert call.mouth.told == ["silence", "resume"]
        assert call.user_messages == ["what time is it"]
        assert (call.model.asked, call.answered) == (["what time is it"], ["what time is it"])
        assert len(call.ends) == 1


@pytest.mark.parametrize("added", ["and for ten minutes", "for two", "tomorrow"])
async def test_words_before_the_answer_join_the_turn(turn_rig: Any, embedded: Any, added: str) -> None:
    async with turn_rig.calling(embedded, by_words=True) as call:
        await cut_off(call, "set a timer")
        await said(call, added)
        await call.audio(0.8)
        await call.until(lambda: f"set a timer {added}" in call.answered)
        assert call.user_messages == [f"set a timer {added}"]
        assert call.mouth.told[0] == "silence"
        assert len(call.ends) == 2
