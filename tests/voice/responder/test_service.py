import asyncio
import itertools
import re
import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import pytest
from pipecat.frames.frames import (
    EagerEndOfTurnCancelFrame,
    Frame,
    InterruptionFrame,
    LLMContextFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
    MetricsFrame,
    TTSSpeakFrame,
    UserStartedSpeakingFrame,
    UserStoppedSpeakingFrame,
)
from pipecat.metrics.metrics import TTFBMetricsData
from pipecat.pipeline.worker import PipelineParams
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.tests.utils import SleepFrame, run_test

from voice.frames import (
    AnswerTextFrame,
    HoldPhraseFrame,
    RequestsFrame,
    ToolCalledFrame,
    ToolReturnedFrame,
)
from voice.language.english.phrases import ENGLISH
from voice.llm.answer.conversation import last_user_text
from voice.llm.answer.spoken_service import SpeechRules
from voice.llm.tools import running, slow
from voice.responder.service import ResponderLLMService
from voice.second_pass import WordCheck

NOW = datetime(2026, 11, 20, 16, 10)


def context(*messages: tuple[str, object]) -> LLMContext:
    contents: Any = [{"role": role, "content": content} for role, content in messages]
    return LLMContext(contents)


def ask(*heard: str, speculation: bool = False) -> LLMContextFrame:
    return LLMContextFrame(context(*(("user", text) for text in heard)), speculation=speculation)


async def run(service: ResponderLLMService, frames: Sequence[Frame], **options: Any) -> tuple[list[Frame], list[Frame]]:
    down, up = await run_test(service, frames_to_send=frames, start_timeout=30, **options)
    return list(down), list(up)


def said(frames: Sequence[Frame]) -> str:
    return "".join(frame.text for frame in frames if isinstance(frame, LLMTextFrame))


def clauses(frames: Sequence[Frame]) -> list[str]:
    return [clause for frame in frames if isinstance(frame, AnswerTextFrame) for clause in frame.clauses]


def announced(frames: Sequence[Frame]) -> list[str]:
    return [frame.text for frame in frames if isinstance(frame, TTSSpeakFrame)]


@pytest.fixture
def service() -> ResponderLLMService:
    return ResponderLLMService(clock=lambda: NOW)


async def test_an_answer_streams_word_by_word_between_its_start_and_end(service: ResponderLLMService) -> None:
    down, _ = await run(service, [ask("what is seven times eight")])
    kinds = [type(frame) for frame in down]
    assert kinds[-7:] == [LLMFullResponseStartFrame, *[AnswerTextFrame] * 5, LLMFullResponseEndFrame]
    assert said(down) == "7 times 8 is 56."
    assert clauses(down) == ["7 times 8 is 56."]


async def test_an_answer_is_cut_into_clauses_as_it_streams(service: ResponderLLMService) -> None:
    down, _ = await run(service, [LLMContextFrame(context(("system", "Be kind.")))])
    texts = [(frame.text, frame.clauses) for frame in down if isinstance(frame, AnswerTextFrame)]
    assert texts[0] == ("Hello. ", ("Hello.",))
    assert texts[1:-1] == [("How ", ()), ("can ", ()), ("I ", ()), ("help ", ())]
    assert texts[-1] == ("you?", ("How can I help you?",))


async def test_only_the_last_user_message_is_answered(service: ResponderLLMService) -> None:
    down, _ = await run(service, [ask("what is seven times eight", "what time is it")])
    assert said(down) == "It is 4:10 in the afternoon."


async def test_a_turn_without_words_does_not_repeat_the_last_request(service: ResponderLLMService) -> None:
    messages = context(("user", "set a timer for ten seconds"), ("developer", "That was noise."))
    down, _ = await run(service, [LLMContextFrame(messages)])
    assert said(down) == "Sorry, I did not catch that."


async def test_a_context_without_user_messages_gets_a_greeting(service: ResponderLLMService) -> None:
    down, _ = await run(service, [LLMContextFrame(context(("system", "Be kind.")))])
    assert said(down) == "Hello. How can I help you?"


def test_text_parts_of_a_message_are_read() -> None:
    parts = [{"type": "text", "text": "what time"}, {"type": "text", "text": "is it"}]
    assert last_user_text(context(("user", parts))) == "what time is it"


async def test_a_timer_that_runs_out_is_announced(service: ResponderLLMService) -> None:
    down, _ = await run(service, [ask("set a timer for 0.1 seconds"), SleepFrame(sleep=0.6)])
    assert said(down).startswith("Timer set")
    assert announced(down) == ["Your 0.1 second timer is done."]


async def test_a_cancelled_timer_stays_silent(service: ResponderLLMService) -> None:
    down, _ = await run(service, [ask("set a timer for 0.3 seconds"), ask("cancel the timer"), SleepFrame(sleep=0.7)])
    assert said(down).endswith("Timer cancelled.")
    assert announced(down) == []


async def test_a_timer_waits_for_the_user_to_finish(service: ResponderLLMService) -> None:
    down, _ = await run(
        service,
        [
            ask("set a timer for 0.1 seconds"), SleepFrame(sleep=0.05), UserStartedSpeakingFrame(),
            SleepFrame(sleep=0.6), UserStoppedSpeakingFrame(), SleepFrame(sleep=0.2),
        ],
    )  # fmt: skip
    kinds = [type(frame) for frame in down]
    assert kinds.index(TTSSpeakFrame) > kinds.index(UserStoppedSpeakingFrame)


async def test_a_running_timer_ends_with_the_call(service: ResponderLLMService) -> None:
    down, _ = await run(service, [ask("set a timer for ten minutes")])
    assert announced(down) == []
    assert not [task for task in asyncio.all_tasks() if "timer" in task.get_name()]


async def test_speculation_is_silent_and_without_effect_until_the_turn_is_committed(
    service: ResponderLLMService,
) -> None:
    down, _ = await run(
        service,
        [
            UserStartedSpeakingFrame(), ask("set a timer for 0.1 seconds", speculation=True), SleepFrame(sleep=0.5),
            EagerEndOfTurnCancelFrame(), SleepFrame(sleep=0.05), UserStoppedSpeakingFrame(), SleepFrame(sleep=0.2),
            ask("how many timers do i have"), SleepFrame(sleep=0.1),
        ],
    )  # fmt: skip
    assert said(down) == "There is no timer running."
    assert announced(down) == []


async def test_a_confirmed_speculation_is_spoken_and_takes_effect(service: ResponderLLMService) -> None:
    down, _ = await run(
        service,
        [
            UserStartedSpeakingFrame(), ask("set a timer for 0.3 seconds", speculation=True), SleepFrame(sleep=0.2),
            UserStoppedSpeakingFrame(), SleepFrame(sleep=1.0),
        ],
    )  # fmt: skip
    kinds = [type(frame) for frame in down]
    assert kinds.index(LLMFullResponseStartFrame) > kinds.index(UserStoppedSpeakingFrame)
    assert said(down).startswith("Timer set")
    assert len(announced(down)) == 1


async def test_an_interruption_discards_a_speculation(service: ResponderLLMService) -> None:
    down, _ = await run(
        service,
        [
            UserStartedSpeakingFrame(), ask("remember that my car is blue", speculation=True), SleepFrame(sleep=0.2),
            InterruptionFrame(), SleepFrame(sleep=0.1), UserStoppedSpeakingFrame(), SleepFrame(sleep=0.1),
            ask("what do you remember"), SleepFrame(sleep=0.1),
        ],
    )  # fmt: skip
    assert said(down) == "You have not asked me to remember anything yet."


async def test_a_speculative_tool_waits_for_the_commit() -> None:
    calls = []

    async def order_status() -> str:
        calls.append("called")
        return "Your order is on its way."

    service = ResponderLLMService(tools=[order_status])
    down, up = await run(
        service,
        [
            UserStartedSpeakingFrame(), ask("what is my order status", speculation=True), SleepFrame(sleep=0.2),
            UserStoppedSpeakingFrame(), SleepFrame(sleep=0.1), ask("what is my order status"), SleepFrame(sleep=0.1),
        ],
    )  # fmt: skip
    assert any(isinstance(frame, EagerEndOfTurnCancelFrame) for frame in up)
    assert said(down) == "Your order is on its way."
    assert calls == ["called"]


async def test_an_interruption_cuts_off_a_slow_tool() -> None:
    outcome = []

    @slow(cancellable=True)
    async def slow_lookup() -> str:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            outcome.append("cancelled")
            raise
        return "late"

    service = ResponderLLMService(tools=[slow_lookup])
    down, _ = await run(
        service, [ask("slow lookup"), SleepFrame(sleep=0.2), InterruptionFrame(), SleepFrame(sleep=0.2), ask("hello")]
    )
    assert outcome == ["cancelled"]
    assert "late" not in said(down)
    assert re.search("help|What can I do", said(down))


async def test_something_true_is_said_while_a_tool_takes_long_and_the_loop_stays_free(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(running, "AGAIN", 0.3)
    order: list[str] = []

    def order_status() -> str:
        order.append("called")
        time.sleep(1.2)
        return "It is on its way."

    async def beat() -> None:
        while "called" not in order:
            await asyncio.sleep(0.01)
        for _ in range(5):
            await asyncio.sleep(0.01)
        order.append("the loop ran")

    beating = asyncio.ensure_future(beat())
    down, _ = await run(ResponderLLMService(tools=[order_status]), [ask("what is my order status")])
    await beating
    phrases = [frame.text for frame in down if isinstance(frame, HoldPhraseFrame)]
    assert phrases[0] == ENGLISH.progress[0]
    assert set(phrases[1:]) == {ENGLISH.progress[1]}
    kinds = [type(frame) for frame in down]
    assert kinds.index(ToolCalledFrame) < kinds.index(HoldPhraseFrame) < kinds.index(ToolReturnedFrame)
    assert "It is on its way." in said(down)
    assert order == ["called", "the loop ran"]


async def test_a_tool_has_a_limit() -> None:
    @slow(limit=0.2)
    async def order_status() -> str:
        await asyncio.sleep(30)
        return "never"

    down, _ = await run(ResponderLLMService(tools=[order_status]), [ask("what is my order status")])
    assert "The order status tool takes too long." in said(down)


async def test_a_goodbye_triggers_its_event(service: ResponderLLMService) -> None:
    heard = asyncio.Event()

    @service.event_handler("on_goodbye")  # type: ignore[untyped-decorator]
    async def leave(_: ResponderLLMService) -> None:
        heard.set()

    await run(service, [ask("goodbye"), SleepFrame(sleep=0.1)])
    assert heard.is_set()


async def test_time_to_first_token_is_reported(service: ResponderLLMService) -> None:
    down, _ = await run(service, [ask("hello")], pipeline_params=PipelineParams(enable_metrics=True))
    metrics = [data for frame in down if isinstance(frame, MetricsFrame) for data in frame.data]
    measured = [data for data in metrics if isinstance(data, TTFBMetricsData) and data.value > 0]
    assert [data.model for data in measured] == ["responder"]


async def test_before_a_model_it_answers_what_it_understands_and_says_so_in_a_record() -> None:
    front = ResponderLLMService(clock=lambda: NOW, numbers=itertools.count(7))
    down, _ = await run(front, [ask("what is two plus two")])
    (report,) = [frame for frame in down if isinstance(frame, RequestsFrame)]
    assert (report.answer.response, report.answer.tier, report.answer.is_committed) == (7, "responder", True)
    assert [attempt.outcome for attempt in report.attempts] == ["spoken"]
    assert any(isinstance(frame, AnswerTextFrame) for frame in down)


@pytest.mark.parametrize("speculation", [False, True])
async def test_before_a_model_it_passes_on_what_it_does_not_understand(speculation: bool) -> None:
    front = ResponderLLMService(clock=lambda: NOW, numbers=itertools.count())
    context = ask("who wrote hamlet", speculation=speculation)
    down, _ = await run(front, [context])
    assert [frame for frame in down if isinstance(frame, LLMContextFrame)] == [context]
    assert not any(isinstance(frame, AnswerTextFrame | RequestsFrame) for frame in down)


async def test_a_question_of_its_own_is_over_once_the_model_has_answered_another_turn() -> None:
    front = ResponderLLMService(clock=lambda: NOW, numbers=itertools.count())
    down, _ = await run(front, [ask("set a timer"), ask("who wrote hamlet"), ask("ten minutes")])
    left = [last_user_text(frame.context) for frame in down if isinstance(frame, LLMContextFrame)]
    assert left == ["who wrote hamlet", "ten minutes"]


async def test_a_withdrawn_answer_before_a_model_is_reported_as_withdrawn() -> None:
    front = ResponderLLMService(clock=lambda: NOW, numbers=itertools.count())
    ahead = ask("what is two plus two", speculation=True)
    down, _ = await run(front, [ahead, SleepFrame(), EagerEndOfTurnCancelFrame(), SleepFrame()])
    (report,) = [frame for frame in down if isinstance(frame, RequestsFrame)]
    assert (report.attempts[0].outcome, report.answer.is_committed) == ("withdrawn", False)


@pytest.mark.parametrize("speculation", [False, True])
async def test_a_request_that_is_understood_waits_for_no_check_of_its_words(speculation: bool) -> None:
    check = WordCheck()
    service = ResponderLLMService(clock=lambda: NOW, rules=SpeechRules(check=check))
    why: list[str] = []
    check.begin(why.append)
    frames: list[Frame] = [UserStartedSpeakingFrame(), ask("what is seven times eight", speculation=speculation)]
    down, _ = await run(service, [*frames, SleepFrame(0.1), UserStoppedSpeakingFrame(), SleepFrame(0.1)])
    assert said(down) == "7 times 8 is 56."
    assert why == ["withdrawn"]


async def test_words_that_are_not_understood_are_answered_after_their_check() -> None:
    check = WordCheck()
    service = ResponderLLMService(clock=lambda: NOW, rules=SpeechRules(check=check))
    number = check.begin(lambda _why: None)
    asyncio.get_running_loop().call_later(0.3, check.end, number)
    began = time.monotonic()
    down, _ = await run(service, [ask("colourless green ideas"), SleepFrame(0.5)])
    assert said(down)
    assert time.monotonic() - began > 0.3
