"""The responder as a pipecat LLM service: takes contexts, streams answers, and announces timers that run out."""

import asyncio
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from pipecat.frames.frames import (
    BotStoppedSpeakingFrame,
    CancelFrame,
    EagerEndOfTurnCancelFrame,
    EndFrame,
    Frame,
    InterruptionFrame,
    LLMContextFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    TTSSpeakFrame,
    UserStartedSpeakingFrame,
    UserStoppedSpeakingFrame,
)
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.frame_processor import FrameDirection

from latency.record.requests import AnswerRecord, RequestOutcome, RequestRecord
from voice.frames import (
    AnswerTextFrame,
    ContextAnsweredFrame,
    HoldPhraseFrame,
    RequestsFrame,
    ToolCalledFrame,
    ToolReturnedFrame,
    TurnJoinsFrame,
)
from voice.language.english.phrases import ENGLISH
from voice.llm.answer.clauses import ClauseSplitter
from voice.llm.answer.conversation import last_user_text
from voice.llm.answer.spoken_service import SpokenLLMService
from voice.llm.context_adapter import PassThroughAdapter
from voice.llm.tools.running import RunningTools
from voice.llm.tools.tool import Tool
from voice.responder import RESPONDER
from voice.responder.dialogue import NOT_UNDERSTOOD, Proposal, Reply, Responder, with_result
from voice.responder.state import Timer
from voice.responder.tools import ToolCall

SILENT_FOR = 0.4
"""Seconds that a tool may run before a phrase is said: with the 200 ms that end a turn and the voice's own delay, the
caller hears it within 800 ms."""
UNDERSTOOD = "the responder understands the whole request"
_PIECES = re.compile(r"\S+\s*")


class CallClock:
    """Local time during one call: the machine's time at the start, plus the time elapsed.

    Setting the machine's clock during the call neither ends timers nor prolongs them.
    """

    def __init__(self) -> None:
        self._began, self._origin = datetime.now(UTC), time.monotonic()

    def __call__(self) -> datetime:
        """The time in this machine's time zone."""
        return (self._began + timedelta(seconds=time.monotonic() - self._origin)).astimezone()


class ResponderLLMService(SpokenLLMService):
    """Answers a call without a language model.

    A speculative request is answered like any other, but without effects: no timer starts, nothing is remembered and no
    tool runs. pipecat's speculation gate holds the text. The frame that releases the text also applies the effects, and
    frames that discard the text also discard the effects. If a speculative request needs a tool, the speculation is
    cancelled, as in pipecat's own services; the tool runs once the turn is committed.

    When the user goes on after the commit (`TurnJoinsFrame`), the joined words are answered as if the first had not
    been.

    A timer that runs out while the user speaks is announced after their turn. Timers end with the call.

    In front of language models (`numbers` given), it answers only requests that it understands, reports each answer as
    a `RequestsFrame`, and passes every other context on to the next service.

    Events: `on_goodbye(service)` after the user has said goodbye and been answered.

    Args:
        tools: plain functions, synchronous or not, that are called by name; see `tools.ToolBox`.
        clock: returns local time; None for a `CallClock`.
        numbers: the numbers of the call's answers, shared with the next service; None without one.
        kwargs: for pipecat's `LLMService`.

    Raises:
        ConfigurationError: a tool cannot be called by name.
    """

    adapter_class = PassThroughAdapter

    def __init__(
        self,
        *,
        tools: Sequence[Tool] = (),
        clock: Callable[[], datetime] | None = None,
        numbers: Iterator[int] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(model=RESPONDER, **kwargs)
        self._responder = Responder(tools=tools, is_alone=numbers is None)
        self._numbers = numbers
        self._ahead: RequestRecord | None = None
        """The record of the speculative answer under way; None without one, or without a next service."""
        self._local_time = clock or CallClock()
        self._speculated: Proposal | None = None
        self._is_answering = False
        self._timer_tasks: dict[int, asyncio.Task[None]] = {}
        self._user_silent = asyncio.Event()
        self._user_silent.set()
        # An announcement must not fall between the words of an answer.
        self._speaking = asyncio.Lock()
        self._register_event_handler("on_goodbye")

    def can_generate_metrics(self) -> bool:
        """True: time to first token and processing time are reported."""
        return True

    async def stop(self, frame: EndFrame) -> None:
        """The call ended."""
        await super().stop(frame)
        await self._cancel_timers()

    async def cancel(self, frame: CancelFrame) -> None:
        """The call was cut off."""
        await super().cancel(frame)
        await self._cancel_timers()

    async def cleanup(self) -> None:
        """Cancel all timers."""
        await super().cleanup()  # type: ignore[no-untyped-call]  # pipecat leaves it unannotated
        await self._cancel_timers()

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Answer contexts, follow the user's turn, and pass all other frames on."""
        await super().process_frame(frame, direction)
        if isinstance(frame, LLMContextFrame):
            if not self.is_wanted(frame) or await self.goes_on(frame):
                return
            if not await self._respond(frame.context):
                await self._pass_on(frame, direction)
            elif self._numbers is not None:
                await self.push_frame(ContextAnsweredFrame(context=frame.context))
            return
        await self.push_frame(frame, direction)
        if isinstance(frame, BotStoppedSpeakingFrame):
            self._is_answering = False
        if direction != FrameDirection.DOWNSTREAM:
            return
        if isinstance(frame, UserStartedSpeakingFrame):
            self._user_silent.clear()
        elif isinstance(frame, UserStoppedSpeakingFrame):
            await self._confirm()
            self._user_silent.set()
        elif isinstance(frame, (EagerEndOfTurnCancelFrame, InterruptionFrame)):
            self._speculated = None
            await self._report_ahead("withdrawn")
            if isinstance(frame, InterruptionFrame) and self._is_answering:
                self._responder.interrupted()
        elif isinstance(frame, TurnJoinsFrame):
            self._responder.goes_on(frame.text)

    async def _respond(self, context: LLMContext) -> bool:
        """Answer a context; returns False if it is not understood and another service could answer it."""
        began = time.monotonic()
        self._speculated = None
        await self._report_ahead("withdrawn")
        text = last_user_text(context)
        now = self._local_time()
        proposal = self._responder.greeting(now) if text is None else self._responder.propose(text, now)
        is_speculating = self._speculation_gate.is_speculating
        if self._numbers is not None and proposal.reply.intent == NOT_UNDERSTOOD:
            if is_speculating:
                self._speculated = proposal
            else:
                await self._accept(proposal)
            return False
        await self.start_processing_metrics()
        await self.start_ttfb_metrics()
        try:
            if is_speculating:
                self._ahead = self._record(began)
                await self._speculate(proposal)
                return True
            self._understands(proposal)
            if proposal.reply.call is not None:
                proposal = with_result(proposal, await self._result_of(proposal.reply.call))
            reply = await self._accept(proposal)
            await self._report(self._record(began), "spoken", commit=began)
            await self._speak(reply.text)
        finally:
            await self.stop_processing_metrics()
        if reply.ends_call:
            await self._call_event_handler("on_goodbye")
        return True

    async def _pass_on(self, frame: LLMContextFrame, direction: FrameDirection) -> None:
        """Leave a context to the next service, whose answer this one's gate does not hold."""
        self._speculation_gate.begin_speculation(False)
        self.drop_rest()
        await self.push_frame(frame, direction)

    def _record(self, began: float) -> RequestRecord | None:
        """The request record of an answer whose words are ready; None without a next service."""
        if self._numbers is None:
            return None
        now = time.monotonic()
        return RequestRecord(
            response=next(self._numbers), tier=RESPONDER, request=began, first_token=now, first_clause=now, end=now
        )

    async def _report_ahead(self, outcome: RequestOutcome, *, commit: float | None = None) -> None:
        record, self._ahead = self._ahead, None
        await self._report(record, outcome, commit=commit)

    async def _report(self, record: RequestRecord | None, outcome: RequestOutcome, *, commit: float | None) -> None:
        if record is None:
            return
        answer = AnswerRecord(
            response=record.response, policy=RESPONDER, reason=UNDERSTOOD, commit=commit, tier=RESPONDER
        )
        attempts = (replace(record, outcome=outcome),)
        await self.push_frame(RequestsFrame(answer=answer, attempts=attempts, final=True))

    async def _result_of(self, call: ToolCall) -> str:
        """Run a tool, and say something if it takes long."""

        async def say(text: str | None, again: bool) -> None:
            await self.push_frame(HoldPhraseFrame(text=text or ENGLISH.progress[again], kind="progress"))

        tools = RunningTools()
        await self.push_frame(ToolCalledFrame())
        with tools.running(call.traits):
            due = time.monotonic() + SILENT_FOR
            accompanying = self.create_task(tools.accompany(due, time.monotonic, say), "accompany a tool")
            try:
                return await call.run()
            finally:
                await self.cancel_task(accompanying)
                await self.push_frame(ToolReturnedFrame())

    async def _speculate(self, proposal: Proposal) -> None:
        """Send the answer into the gate, or cancel the speculation if only a tool can give the answer."""
        if proposal.reply.call is not None:
            await self.broadcast_frame(EagerEndOfTurnCancelFrame)
            return
        self._speculated = proposal
        await self._speak(proposal.reply.text)

    async def _speak(self, text: str) -> None:
        async with self._speaking:
            await self.push_frame(LLMFullResponseStartFrame())
            try:
                await self.stop_ttfb_metrics()
                await self.stop_ttfat_metrics()
                for frame in _word_by_word(text):
                    await self.push_frame(frame)
            finally:
                await self.push_frame(LLMFullResponseEndFrame())

    async def _confirm(self) -> None:
        """Apply the speculative answer's effects: the turn is committed, and the gate has released the text."""
        if self._speculated is None:
            return
        proposal, self._speculated = self._speculated, None
        self._understands(proposal)
        reply = await self._accept(proposal)
        await self._report_ahead("spoken", commit=time.monotonic())
        if reply.ends_call:
            await self._call_event_handler("on_goodbye")

    def _understands(self, proposal: Proposal) -> None:
        """Answer words that are understood at once: they are not checked any more."""
        if proposal.reply.intent != NOT_UNDERSTOOD:
            self._rules.check.drop()

    async def _accept(self, proposal: Proposal) -> Reply:
        """Apply the proposal: update the state, start and cancel timers."""
        self._is_answering = proposal.reply.intent != NOT_UNDERSTOOD or self._numbers is None
        reply = self._responder.accept(proposal)
        for timer in reply.cancelled:
            task = self._timer_tasks.pop(timer.number, None)
            if task is not None:
                await self.cancel_task(task)
        if reply.timer is not None:
            self._timer_tasks[reply.timer.number] = self.create_task(self._ring(reply.timer), "timer")
        return reply

    async def _ring(self, timer: Timer) -> None:
        """Announce the timer when it has run out and the user does not speak."""
        await asyncio.sleep(timer.seconds)
        await self._user_silent.wait()
        text = self._responder.finish(timer)
        if text is not None:
            async with self._speaking:
                await self.push_frame(TTSSpeakFrame(text))
        self._timer_tasks.pop(timer.number, None)

    async def _cancel_timers(self) -> None:
        tasks, self._timer_tasks = list(self._timer_tasks.values()), {}
        for task in tasks:
            await self.cancel_task(task)


def _word_by_word(text: str) -> Iterator[AnswerTextFrame]:
    """One frame for each word of the text, with the clauses that the word completes."""
    splitter, words = ClauseSplitter(), _PIECES.findall(text)
    for number, word in enumerate(words, 1):
        clauses = splitter.feed(word)
        if number == len(words) and (last := splitter.flush()):
            clauses.append(last)
        yield AnswerTextFrame(word, clauses=tuple(clauses))
