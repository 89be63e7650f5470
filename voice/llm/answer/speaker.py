"""Delivers the answers of a call to the pipeline: words, filler phrases, tool calls and reports."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from pipecat.frames.frames import Frame, FunctionCallFromLLM, LLMFullResponseStartFrame
from pipecat.services.llm_service import LLMService

from latency.record.requests import PhraseKind
from voice.frames import AnswerTextFrame, HoldPhraseFrame, LLMFailureFrame, RequestsFrame
from voice.llm.answer.clauses import sentences
from voice.llm.answer.hold_phrases import HoldPhrases
from voice.llm.spending.spending import Spending
from voice.llm.tools.running import RunningTools, ToolRounds

if TYPE_CHECKING:
    from voice.llm.answer.answer import Answer


class Speaker:
    """Speaks for the answers of one call.

    Args:
        service: pushes the frames and runs the tools.
        words_stand: waits for the check of the caller's words; returns whether they stand.
        phrases: for the wait until an answer is ready.
        is_spoken: whether the call is spoken, and not written.
        rounds: limits the tool calls of a turn.
        spending: adds up the call's cost; None without a limit.
    """

    def __init__(
        self,
        service: LLMService[Any],
        phrases: HoldPhrases,
        *,
        is_spoken: Callable[[], bool],
        rounds: ToolRounds,
        words_stand: Callable[[], Awaitable[bool]],
        spending: Spending | None = None,
    ) -> None:
        self._service, self._is_spoken, self.words_stand = service, is_spoken, words_stand
        self.phrases, self.rounds, self.tools = phrases, rounds, RunningTools()
        self._spending = spending
        self._spoke = ""
        self._accompanying: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """Start the answer."""
        self._spoke = ""
        await self._service.push_frame(LLMFullResponseStartFrame())

    async def speak(self, piece: Frame) -> None:
        """Speak the answer's next piece, usually an `AnswerTextFrame`."""
        if isinstance(piece, AnswerTextFrame):
            self._spoke += piece.text
            await self._service.stop_ttfb_metrics()
            await self._service.stop_ttfat_metrics()
        await self._service.push_frame(piece)

    def known_opening(self) -> str:
        """The next of the openings that fit any answer."""
        return self.phrases.phrase("opening")

    async def say(self, kind: PhraseKind, text: str | None = None) -> str | None:
        """Say `phrase`, or else one of this kind; returns it, or None if nothing is to be said now."""
        phrase = self.phrases.say(kind, time.monotonic(), text) if self._is_spoken() else None
        if phrase is not None:
            # An opening is the beginning of the answer; its heard part stays in the conversation.
            await self._service.push_frame(HoldPhraseFrame(text=phrase, kind=kind, append_to_context=kind == "opening"))
        return phrase

    async def apologise(self, reason: str) -> None:
        """Apologise in place of the answer or of its rest."""
        usual = self.phrases.usual
        words = f" {usual.broke_off}" if self._spoke.strip() else usual.not_answering
        await self._service.push_frame(LLMFailureFrame(text=words, clauses=tuple(sentences(words)), reason=reason))

    async def call(self, calls: Sequence[FunctionCallFromLLM], answer: "Answer") -> str | None:
        """Run the chosen answer's tools, and say something if they take long.

        Returns the reason if they are not run: a model that keeps calling tools would be asked, and billed, for ever.
        """
        if objection := self.rounds.objection(calls):
            return objection
        await self._service.run_function_calls(calls)
        await self.fall_silent()
        self._accompanying = self._service.create_task(self._accompany(answer), "accompany tools")
        return None

    async def _accompany(self, answer: "Answer") -> None:
        async def say(text: str | None, again: bool) -> None:
            await answer.progress(text or self.phrases.progress(again=again))

        await self.tools.accompany(answer.silent_from, time.monotonic, say)

    async def fall_silent(self) -> None:
        """Say nothing more about running tools."""
        task, self._accompanying = self._accompanying, None
        if task is not None:
            await self._service.cancel_task(task)

    async def report(self, frame: RequestsFrame) -> None:
        """Push a report of the requests for observers of the call."""
        if self._spending:
            self._spending.note(frame)
        await self._service.push_frame(frame)
