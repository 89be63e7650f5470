"""Watches the frames of a call and reports each turn to its client. Nothing else writes the server's marks.

pipecat hands frames to observers in a task of their own, so the instants are those of the push (`MonotonicClock`),
not of the observation.
"""

import time

from pipecat.clocks.base_clock import BaseClock
from pipecat.frames.frames import (
    AggregatedTextFrame,
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    EagerEndOfTurnCancelFrame,
    Frame,
    FunctionCallInProgressFrame,
    FunctionCallResultFrame,
    LLMContextAssistantTurnFrame,
    LLMContextFrame,
    LLMFullResponseEndFrame,
    LLMMessagesAppendFrame,
    LLMTextFrame,
    OutputTransportMessageUrgentFrame,
    TranscriptionFrame,
    TTSAudioRawFrame,
    TTSTextFrame,
    UserStartedSpeakingFrame,
    UserStoppedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.observers.base_observer import BaseObserver, FramePushed
from pipecat.processors.frame_processor import FrameDirection
from pipecat.processors.frameworks.rtvi import RTVIProcessor
from pipecat.services.llm_service import LLMService

from latency.record.marks import Mark
from pipelines.call_log.live_turn import LiveTurn
from pipelines.call_log.turn_log import TurnLog
from voice.conversation.transcript import typed_texts
from voice.frames import (
    HOLD_PHRASE,
    EagerHintFrame,
    EarlySynthesisFrame,
    HangFrame,
    LLMFailureFrame,
    OverlapFrame,
    RequestsFrame,
    RevisedTranscriptionFrame,
    SilenceAskedFrame,
    ToolCalledFrame,
    ToolReturnedFrame,
    TurnEndFrame,
    TurnJoinsFrame,
)
from voice.llm.answer.spoken_service import AnswerPartFrame
from voice.server.accounting import CallAccounting
from voice.server.loop.loop_watch import LoopWatch
from voice.wire.messages import TurnMessage, to_rtvi


class MonotonicClock(BaseClock):
    """pipecat's pipeline clock on the same time base as everything else here: `time.monotonic_ns`."""

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
        account: the books on the call; None where none are kept.
    """

    def __init__(
        self, log: TurnLog, rtvi: RTVIProcessor, watch: LoopWatch | None = None, account: CallAccounting | None = None
    ) -> None:
        super().__init__(observe_every_push=False)
        self.log = log
        self._rtvi = rtvi
        self._watch = watch
        self._account = account
        self._watching = False

    async def on_pipeline_started(self) -> None:
        """The call has begun."""
        if self._watch and not self._watching:
            self._watching = True
            self._watch.call_began()

    async def cleanup(self) -> None:
        """The call is over."""
        await super().cleanup()  # type: ignore[no-untyped-call]
        if self._watch and self._watching:
            self._watching = False
            self._watch.call_ended()

    async def on_push_frame(self, data: FramePushed) -> None:
        """A frame was pushed for the first time."""
        upstream = data.direction is not FrameDirection.DOWNSTREAM
        if isinstance(data.frame, LLMContextFrame):
            # A tool's result comes upstream. The assistant's side also pushes its context downstream, to no effect.
            if not upstream and not isinstance(data.destination, LLMService):
                return
        elif upstream:
            # Frames that go both ways count once.
            return
        changed = self._note(data.frame, data.timestamp / 1e9)
        if not changed:
            return
        report = changed.report()
        if self._account:
            self._account.note(report.turn)
        message = TurnMessage(report)
        if isinstance(data.frame, HangFrame):
            # What hangs may be between RTVI, at the head of the pipeline, and the transport.
            await data.source.push_frame(OutputTransportMessageUrgentFrame(message=to_rtvi(message)))
        else:
            await self._rtvi.send_server_message(message.to_json())

    def _note(self, frame: Frame, now: float) -> LiveTurn | None:
        log = self.log
        match frame:
            case TTSAudioRawFrame():
                log.audio(frame.context_id, frame.num_frames / frame.sample_rate, now)
            case AggregatedTextFrame() if frame.will_be_spoken and not isinstance(frame, TTSTextFrame):
                note = log.bridged if frame.text_type == HOLD_PHRASE else log.clause
                note(frame.context_id, frame.text, now)
            case RequestsFrame():
                return log.asked(frame)
            case UserStartedSpeakingFrame():
                return log.user_started(now)
            case LLMMessagesAppendFrame() if frame.run_llm and (text := " ".join(typed_texts(frame))):
                return log.typed(text, now)
            case SilenceAskedFrame():
                return log.silenced(now)
            case TurnJoinsFrame():
                log.joins()
            case OverlapFrame():
                return log.overlapped(frame)
            case VADUserStoppedSpeakingFrame():
                log.stopped(frame.stop_secs, now)
            case TranscriptionFrame():
                log.heard(frame.text, now, revised=isinstance(frame, RevisedTranscriptionFrame))
            case TurnEndFrame():
                return log.ended(frame)
            case EagerHintFrame():
                log.hinted(now)
            case AnswerPartFrame():
                log.in_part(frame.part)
            case EarlySynthesisFrame():
                log.spoken_ahead()
            case LLMContextFrame() if frame.speculation:
                log.asked_ahead(now)
            case UserStoppedSpeakingFrame():
                log.committed(now)
            case EagerEndOfTurnCancelFrame():
                log.withdrawn()
            case LLMContextFrame():
                log.requested(now)
            case FunctionCallInProgressFrame() | ToolCalledFrame():
                log.tool_called(now)
            case FunctionCallResultFrame() | ToolReturnedFrame():
                log.tool_returned(now)
            case HangFrame():
                return log.hung(frame.hang, frame.reason, now)
            case LLMFailureFrame():
                return log.llm_failed(frame.reason, now)
            case LLMTextFrame():
                log.mark_first(Mark.LLM_FIRST_TOKEN, now)
            case LLMFullResponseEndFrame():
                log.llm_ended(now)
            case LLMContextAssistantTurnFrame():
                return log.played(frame.text)
            case BotStartedSpeakingFrame():
                return log.sent(now)
            case BotStoppedSpeakingFrame():
                return log.bot_stopped(now)
            case _:
                pass
        return None
