"""The watchdog of a call: explains silences, frees hanging parts, and ends a call that cannot go on."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable

from pipecat.frames.frames import Frame
from pipecat.observers.base_observer import BaseObserver
from pipecat.processors.aggregators.llm_response_universal import LLMUserAggregator
from pipecat.processors.audio.vad_processor import VADProcessor
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.llm_service import LLMService
from pipecat.services.stt_service import STTService

from latency.record.turn import HangRecord, Part
from voice.frames import HangFrame, HangReasonFrame, HoldPhraseFrame
from voice.language.english.phrases import ENGLISH
from voice.language.phrases import Phrases
from voice.turns.turn_follower import FollowerObserver
from voice.watchdog.hangs import Hang, HangDetector, Limits, Reminder

WAITING = 10
"""The least frames queued before a stuck processor; a busy one has fewer."""
_PARTS: tuple[tuple[type[FrameProcessor], Part], ...] = (
    (VADProcessor, "voice detector"),
    (STTService, "recogniser"),
    (LLMUserAggregator, "turn taking"),
    (LLMService, "language model"),
)
_NAMES: dict[Part, str] = {"turn taking": "turn taking", "synthesis": "speech synthesis"}
_DID_NOT: dict[Part, str] = {
    "voice detector": "let no audio through",
    "recogniser": "gave no text",
    "turn taking": "did not decide on the end of the turn",
    "language model": "gave no text",
    "tool": "did not return",
    "synthesis": "made no audio",
    "transport": "sent no audio",
    "processor": "let no audio through",
}
FREED = frozenset({"language model", "tool", "synthesis"})
"""Parts that an interruption frees. A part that blocks the audio would also block the interruption."""
TOLD_WITHIN = 0.1
"""Seconds for the report of a hang to reach the client before its call is closed."""
log = logging.getLogger(__name__)


def stuck(watchdog: FrameProcessor) -> tuple[Part, str]:
    """The first processor before the watchdog with a backlog of frames: its part and its name."""
    processors: list[FrameProcessor] = []
    before = watchdog.previous
    while before is not None:
        processors.insert(0, before)
        before = before.previous
    for processor in processors:
        # pipecat does not publish its queue lengths.
        queue = getattr(processor, "_FrameProcessor__input_queue", None)
        if queue is not None and queue.qsize() >= WAITING:
            named: list[Part] = [part for kind, part in _PARTS if isinstance(processor, kind)]
            return named[0] if named else "processor", str(processor)
    return "processor", "a processor between the microphone and the language model"


def sentence(part: Part, hang: Hang, name: str | None = None) -> str:
    """A description of the hang, for log, record and report.

    Args:
        part: what hung.
        hang: how it was found.
        name: the name of the processor, where audio did not come through.
    """
    what = _NAMES.get(part, f"the {part}") + (f" ({name})" if name is not None else "")
    did_not = "let no audio through" if name is not None else _DID_NOT[part]
    return f"{what} {did_not} for {hang.seconds:.0f} s"


def spoken(part: Part, hang: Hang, phrases: Phrases) -> str:
    """The sentence for the caller."""
    if part == "synthesis":
        return phrases.went_wrong
    if part == "tool":
        return phrases.unfinished
    if part == "language model":
        return phrases.broke_off if hang.answered else phrases.not_answering
    return phrases.say_again if hang.part is not None and hang.times == 1 else phrases.cannot_hear


class Watchdog(FrameProcessor):
    """Precedes synthesis, so that it can speak even if the recogniser, turn taking or a model hangs.

    An interruption frees most hanging parts, since pipecat then cancels whatever a processor awaits. It cannot free a
    coroutine that blocks the event loop; `voice.server.event_loop` reports those.

    Args:
        limits: how long the call may be silent.
        end_call: ends the call for a reason, a clause; called if nothing can be said, or after repeated hangs.
        phrases: the agent's phrases in the language of the call.
    """

    def __init__(self, limits: Limits, end_call: Callable[[str], Awaitable[None]], phrases: Phrases = ENGLISH) -> None:
        super().__init__()
        self._phrases = phrases
        self.watch = HangDetector(limits)
        self.observer: BaseObserver = FollowerObserver(self.watch, self.changed)
        self._end_call = end_call
        self._timer: asyncio.TimerHandle | None = None
        self._acting: asyncio.Task[None] | None = None
        self._ended = False

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Pass everything on."""
        await super().process_frame(frame, direction)
        await self.push_frame(frame, direction)

    async def cleanup(self) -> None:
        """The call is over."""
        self._ended = True
        if self._timer is not None:
            self._timer.cancel()
        acting, self._acting = self._acting, None
        if acting is not None and acting is not asyncio.current_task():
            await self.cancel_task(acting)
        await super().cleanup()  # type: ignore[no-untyped-call]

    def audio_came(self) -> None:
        """A message of the caller's audio has arrived."""
        self.watch.audio_came()
        if self._timer is None:
            self.changed()

    def audio_through(self) -> None:
        """A frame of the caller's audio has passed recogniser and turn taking."""
        self.watch.audio_through(time.monotonic())

    def paused(self, away: bool, again: float = 0.0) -> None:
        """The client has gone and may come back, or is back and is sent so many seconds of audio again."""
        self.watch.paused(away, time.monotonic(), again=again)
        self.changed()

    def changed(self) -> None:
        """Look again when something is due."""
        due = self.watch.due
        if due is None or self._ended or self._acting is not None:
            return
        loop = asyncio.get_running_loop()
        at = loop.time() + max(0.0, due - time.monotonic())
        if self._timer is not None:
            if self._timer.when() <= at:
                # It checks when something is due by then.
                return
            self._timer.cancel()
        self._timer = loop.call_at(at, self._look)

    def _look(self) -> None:
        self._timer = None
        found = self.watch.check(time.monotonic())
        if found is not None:
            self._acting = self.create_task(self._act(found), "watchdog")
            self._acting.add_done_callback(self._acted)
        else:
            self.changed()

    def _acted(self, _task: asyncio.Task[None]) -> None:
        self._acting = None
        self.changed()

    async def _act(self, found: Reminder | Hang) -> None:
        if isinstance(found, Reminder):
            text = self._phrases.progress[1] if found.part == "tool" else self._phrases.delay[1]
            await self.push_frame(HoldPhraseFrame(text=text, kind="progress" if found.part == "tool" else "delay"))
            return
        part, name = (found.part, None) if found.part is not None else stuck(self)
        reason = sentence(part, found, name)
        log.warning("%s; %s", reason, "the call is ended" if found.ends_call else "the caller is told")
        hang = HangRecord(
            part=part,
            at=time.monotonic(),
            seconds=round(found.seconds, 3),
            answered=found.answered,
            ended_call=found.ends_call,
        )
        await self.push_frame(HangFrame(hang=hang, reason=reason))
        if found.ends_call:
            self._ended = True
            await asyncio.sleep(TOLD_WITHIN)
            await self._end_call(reason)
            return
        if found.part in FREED:
            await self.broadcast_interruption()  # type: ignore[no-untyped-call]
        await self.push_frame(HangReasonFrame(text=spoken(part, found, self._phrases)))
