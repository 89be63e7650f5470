"""What waits for the check of the caller's words, and what does not."""

import asyncio

from pipecat.frames.frames import (
    Frame,
    InterruptionFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    TTSSpeakFrame,
)
from pipecat.processors.frame_processor import FrameDirection
from pipecat.tests.utils import SleepFrame, run_test

from voice.frames import AnswerHeldFrame, AnswerTextFrame, EarlySynthesisFrame, HoldPhraseFrame, WordsCorrectedFrame
from voice.llm.answer.held_answers import HeldAnswers
from voice.second_pass import WordCheck

ANSWER = ("One.", "Two.")


class Service(HeldAnswers):
    """Pushes whatever comes."""

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        await self.push_frame(frame, direction)


def answer(*clauses: str) -> list[Frame]:
    texts = [AnswerTextFrame(clause, clauses=(clause,)) for clause in clauses]
    return [LLMFullResponseStartFrame(), *texts, LLMFullResponseEndFrame()]


async def run(check: WordCheck, *frames: Frame, prepares: bool = False) -> list[str]:
    """What comes out, in order: the kinds of frames, or their texts."""
    service = Service()
    service.hold_for(check, prepares=prepares)
    down, _ = await run_test(service, frames_to_send=[*frames, SleepFrame(0.3)], start_timeout=30.0)
    return [getattr(frame, "text", None) or type(frame).__name__ for frame in down]


def later(seconds: float, check: WordCheck, number: int) -> None:
    asyncio.get_running_loop().call_later(seconds, check.end, number)


async def test_without_a_check_nothing_waits() -> None:
    assert await run(WordCheck(), *answer(*ANSWER)) == [
        "LLMFullResponseStartFrame", "One.", "Two.", "LLMFullResponseEndFrame",
    ]  # fmt: skip


async def test_a_hold_phrase_is_heard_at_once_and_an_opening_with_the_answer() -> None:
    check = WordCheck()
    later(0.3, check, check.begin(lambda _why: None, limit=20.0))
    opening = HoldPhraseFrame("About your flight.", kind="opening")
    assert await run(check, *answer("One."), HoldPhraseFrame("One moment."), opening, SleepFrame(0.3)) == [
        "One moment.", AnswerHeldFrame.__name__, "LLMFullResponseStartFrame", "One.", "LLMFullResponseEndFrame",
        "About your flight.",
    ]  # fmt: skip


async def test_an_answer_that_has_begun_before_the_check_goes_on() -> None:
    check = WordCheck()
    start, *rest = answer(*ANSWER)
    service = Service()
    service.hold_for(check, prepares=False)
    asyncio.get_running_loop().call_later(0.2, check.begin, lambda _why: None)
    down, _ = await run_test(service, frames_to_send=[start, SleepFrame(0.4), *rest], start_timeout=30.0)
    assert check.is_pending
    assert [frame.text for frame in down if isinstance(frame, AnswerTextFrame)] == list(ANSWER)


async def test_the_first_clause_is_synthesised_while_it_waits() -> None:
    check = WordCheck()
    later(0.2, check, check.begin(lambda _why: None, limit=20.0))
    service = Service()
    service.hold_for(check, prepares=True)
    down, _ = await run_test(service, frames_to_send=[*answer(*ANSWER), SleepFrame(0.4)], start_timeout=30.0)
    assert [frame.text for frame in down if isinstance(frame, EarlySynthesisFrame)] == ["One."]
    assert isinstance(down[0], EarlySynthesisFrame)


async def test_an_interruption_drops_what_waits() -> None:
    check = WordCheck()
    number = check.begin(lambda _why: None, limit=20.0)
    later(0.3, check, number)
    assert await run(check, *answer(*ANSWER), SleepFrame(0.1), InterruptionFrame(), SleepFrame(0.4)) == [
        "InterruptionFrame"
    ]


async def test_corrected_words_drop_what_waits_and_all_that_still_comes_of_it() -> None:
    check = WordCheck()
    number = check.begin(lambda _why: None, limit=20.0)
    asyncio.get_running_loop().call_later(0.2, check.correct, number)
    start, one, two, end = answer(*ANSWER)
    first = [start, one, SleepFrame(0.4), two, end, SleepFrame(0.1)]
    assert await run(check, *first, WordsCorrectedFrame(), SleepFrame(0.1), *answer("Right.")) == [
        "WordsCorrectedFrame", "LLMFullResponseStartFrame", "Right.", "LLMFullResponseEndFrame",
    ]  # fmt: skip


async def test_announcements_do_not_wait_for_a_check_without_an_answer() -> None:
    check = WordCheck()
    check.begin(lambda _why: None)
    assert await run(check, TTSSpeakFrame("Your timer is done.")) == ["Your timer is done."]
