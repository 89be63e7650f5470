"""Holds an answer back until the check of the words that it answers has ended."""

import asyncio
import time
from typing import Any

from pipecat.frames.frames import (
    EndFrame,
    Frame,
    InterruptionFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
    SystemFrame,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

from voice.frames import AnswerHeldFrame, AnswerTextFrame, EarlySynthesisFrame, HoldPhraseFrame, WordsCorrectedFrame
from voice.second_pass import WordCheck


class HeldAnswers(FrameProcessor):
    """The last base of a language model's service: whatever the service pushes comes here after pipecat's own gate.

    An answer that begins while a check of the caller's words is under way waits for its end, at most the check's limit
    after its first clause is there; that clause is synthesised meanwhile. If the words are corrected, the answer is
    dropped, with all that follows of it until the `WordsCorrectedFrame` has passed. An opening waits too, because it
    has words of the caller; a hold phrase does not. Observers see frames only when they are released.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._word_check, self._prepares_held = WordCheck(), False
        self._held: list[Frame] = []
        self._is_holding = self._is_void = False
        self._since: float | None = None
        """When the first clause could have been spoken."""
        self._timer: asyncio.TimerHandle | None = None

    def hold_for(self, check: WordCheck, *, prepares: bool) -> None:
        """Hold answers for this check; `prepares`: whether synthesis prepares first clauses."""
        self._word_check, self._prepares_held = check, prepares
        check.voids.append(self._void)

    async def cleanup(self) -> None:
        """The call is over."""
        self._discard()
        await super().cleanup()  # type: ignore[no-untyped-call]  # pipecat leaves it unannotated

    async def push_frame(self, frame: Frame, direction: FrameDirection = FrameDirection.DOWNSTREAM) -> None:
        """Push a frame, or hold it back."""
        if direction is not FrameDirection.DOWNSTREAM or isinstance(frame, SystemFrame | EndFrame):
            if isinstance(frame, InterruptionFrame | WordsCorrectedFrame | EndFrame):
                for kept in self._discard():
                    await super().push_frame(kept)
            await super().push_frame(frame, direction)
            return
        is_opening = isinstance(frame, HoldPhraseFrame) and frame.kind == "opening"
        if isinstance(frame, HoldPhraseFrame) and not is_opening:
            await super().push_frame(frame)
        elif self._is_void:
            if not frame.interruptible:
                await super().push_frame(frame)
        elif self._is_holding:
            await self._hold(frame)
        elif self._word_check.is_pending and (is_opening or isinstance(frame, LLMFullResponseStartFrame)):
            self._is_holding = True
            self.create_task(self._release(), "release")
            await self._hold(frame)
        else:
            await super().push_frame(frame)

    async def words_stand(self) -> bool:
        """Wait for the check; returns whether the answer under way still answers the caller's words."""
        return await self._word_check.settled() and not self._is_void

    async def _hold(self, frame: Frame) -> None:
        self._held.append(frame)
        clauses = frame.clauses if isinstance(frame, AnswerTextFrame) else ()
        speakable = bool(clauses) if isinstance(frame, AnswerTextFrame) else isinstance(frame, LLMTextFrame)
        if self._since is not None or not (speakable or isinstance(frame, HoldPhraseFrame)):
            return
        self._since = time.monotonic()
        if (limit := self._word_check.limit) < float("inf"):
            self._timer = asyncio.get_running_loop().call_later(limit, self._word_check.drop, "late")
        if clauses and self._prepares_held:
            await super().push_frame(EarlySynthesisFrame(text=clauses[0]))

    async def _release(self) -> None:
        """Push what is held as soon as the check has ended, unless the words were corrected."""
        held = self._held
        if not await self._word_check.settled() or held is not self._held:
            return
        since, self._since = self._since, None
        self._stop_timer()
        if since is not None:
            await super().push_frame(AnswerHeldFrame(seconds=time.monotonic() - since))
        while held and held is self._held:
            await super().push_frame(held.pop(0))
        if held is self._held:
            self._is_holding = False

    def _void(self) -> None:
        """The words are being corrected: drop the answer to them."""
        self._held, self._is_void = self._discard(), True

    def _discard(self) -> list[Frame]:
        """Drop what is held; returns the frames that must not be lost."""
        kept = [frame for frame in self._held if not frame.interruptible]
        self._held, self._is_holding, self._is_void, self._since = [], False, False, None
        self._stop_timer()
        return kept

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
