"""Watches the frames of a call and reports each turn to its client. Only this module writes the server's marks.

pipecat hands frames to observers in separate tasks, so instants are those of the push (`MonotonicClock`), not of the
observation.
"""

import time

from pipecat.clocks.base_clock import BaseClock
from pipecat.frames.frames import (
    EagerEndOfTurnCancelFrame,
    Frame,
    LLMContextAssistantTurnFrame,
    LLMMessagesAppendFrame,
    OutputTransportMessageUrgentFrame,
)
from pipecat.observers.base_observer import BaseObserver, FramePushed
from pipecat.processors.frameworks.rtvi import RTVIProcessor

from pipelines.call_log.live_turn import LiveTurn
from pipelines.call_log.turn_log import TurnLog
from voice.conversation.transcript import typed_texts
from voice.frames import (
    AnswerHeldFrame,
    EarlySynthesisFrame,
    HangFrame,
    OverlapFrame,
    RequestsFrame,
    SilenceAskedFrame,
    TurnJoinsFrame,
    WordsCheckedFrame,
    WordsCorrectedFrame,
)
from voice.llm.answer.spoken_service import AnswerPartFrame
from voice.server.event_loop import LoopWatch
from voice.server.metrics import CallMetrics
from voice.turns.turn_follower import counts
from voice.wire.messages import TurnMessage, to_rtvi


class MonotonicClock(BaseClock):
    """pipecat's pipeline clock on our time base, `time.monotonic_ns`."""

    def get_time(self) -> int:
        """Nanoseconds on the process's monotonic clock."""
        return time.monotonic_ns()

    def start(self) -> None:
        """Nothing to start."""


class TurnObserver(BaseObserver):
    """Turns frames into the `TurnLog` of a call, and sends every turn that changed to the client.

    Args:
        log: the turns of this call.
        rtvi: sends messages to the client.
        watch: watches the event loop during the call; None when it is not watched.
        metrics: gets every turn that changed; None to count nothing.
    """

    def __init__(
        self, log: TurnLog, rtvi: RTVIProcessor, watch: LoopWatch | None = None, metrics: CallMetrics | None = None
    ) -> None:
        super().__init__(observe_every_push=False)
        self.log = log
        self._rtvi = rtvi
        self._watch = watch
        self._metrics = metrics
        self._watching = False

    async def on_pipeline_started(self) -> None:
        """Begin the call's records."""
        if self._watch and not self._watching:
            self._watching = True
            self._watch.call_began()

    async def cleanup(self) -> None:
        """End the call's records."""
        await super().cleanup()  # type: ignore[no-untyped-call]
        if self._watch and self._watching:
            self._watching = False
            self._watch.call_ended()

    async def on_push_frame(self, data: FramePushed) -> None:
        """Handle the first push of a frame."""
        changed = self.log.see(data)
        if changed is None and counts(data):
            changed = self._note(data.frame, data.timestamp / 1e9)
        if changed is None:
            return
        report = changed.report()
        if self._metrics:
            self._metrics.note(report.turn)
        message = TurnMessage(report)
        if isinstance(data.frame, HangFrame):
            # The hanging part may be between RTVI, at the head of the pipeline, and the transport.
            await data.source.push_frame(OutputTransportMessageUrgentFrame(message=to_rtvi(message)))
        else:
            await self._rtvi.send_server_message(message.to_json())

    def _note(self, frame: Frame, now: float) -> LiveTurn | None:
        """Note the frames that no other `TurnFollower` needs."""
        log = self.log
        match frame:
            case RequestsFrame():
                return log.attempted(frame)
            case LLMMessagesAppendFrame() if frame.run_llm and (text := " ".join(typed_texts(frame))):
                return log.typed(text, now)
            case SilenceAskedFrame():
                return log.silenced(now)
            case TurnJoinsFrame():
                log.joins()
            case OverlapFrame():
                return log.overlapped(frame)
            case AnswerPartFrame():
                log.in_part(frame.part)
            case EarlySynthesisFrame():
                log.spoken_ahead()
            case WordsCheckedFrame():
                return log.checked(frame.record)
            case AnswerHeldFrame():
                log.held(frame.seconds)
            case WordsCorrectedFrame():
                return log.corrected(frame.corrected)
            case EagerEndOfTurnCancelFrame():
                log.withdrawn()
            case HangFrame():
                return log.hung(frame.hang, frame.reason, now)
            case LLMContextAssistantTurnFrame():
                return log.played(frame.text)
            case _:
                pass
        return None
