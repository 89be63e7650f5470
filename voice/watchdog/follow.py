"""Tells a `CallWatch` what the frames of its call mean. It sees each frame once, when it is first pushed."""

from collections.abc import Callable

from pipecat.frames.frames import (
    AggregatedTextFrame,
    BotStoppedSpeakingFrame,
    Frame,
    FunctionCallCancelFrame,
    FunctionCallInProgressFrame,
    FunctionCallResultFrame,
    InterruptionFrame,
    LLMContextFrame,
    LLMFullResponseEndFrame,
    LLMTextFrame,
    TranscriptionFrame,
    TTSAudioRawFrame,
    TTSSpeakFrame,
    TTSTextFrame,
    UserStartedSpeakingFrame,
    UserStoppedSpeakingFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.observers.base_observer import BaseObserver, FramePushed
from pipecat.processors.frame_processor import FrameDirection
from pipecat.services.llm_service import LLMService
from pipecat.transports.base_output import BaseOutputTransport

from voice.frames import (
    HOLD_PHRASE,
    AnswerTextFrame,
    HangReasonFrame,
    NothingHeardFrame,
    OwnVoiceFrame,
    RecogniserFailedFrame,
    ToolCalledFrame,
    ToolReturnedFrame,
    TurnEndFrame,
)
from voice.watchdog.watch import CallWatch

TOOL = "a tool that no model called"
NO_WORDS = frozenset({"nothing_heard", "own_voice", "recogniser_failed"})
"""How turns end that get no answer: there is nothing to answer, or the loss has been said."""


class WatchObserver(BaseObserver):
    """Follows the frames of a call.

    Args:
        watch: is told.
        changed: called after that.
    """

    def __init__(self, watch: CallWatch, changed: Callable[[], None]) -> None:
        super().__init__(observe_every_push=False)
        self._watch, self._changed = watch, changed
        self._decided = False

    async def on_push_frame(self, data: FramePushed) -> None:
        """A frame was pushed for the first time."""
        frame, now = data.frame, data.timestamp / 1e9
        downstream = data.direction is FrameDirection.DOWNSTREAM
        if isinstance(frame, LLMContextFrame):
            # A tool's result comes upstream. The assistant's side also pushes its context downstream, to no effect.
            if not frame.speculation and (not downstream or isinstance(data.destination, LLMService)):
                self._watch.asked(now)
        elif not downstream:
            # Frames that go both ways count once.
            return
        elif isinstance(frame, TTSAudioRawFrame):
            note = self._watch.speech_sent if isinstance(data.source, BaseOutputTransport) else self._watch.speech_made
            note(now, frame.num_frames / frame.sample_rate)
        elif not (self._answer(frame, now) or self._turn(frame, now)):
            return
        self._changed()

    def _turn(self, frame: Frame, now: float) -> bool:
        """Note what concerns the caller's turn; returns whether anything does."""
        watch = self._watch
        match frame:
            case VADUserStartedSpeakingFrame():
                watch.speech_started(now)
            case VADUserStoppedSpeakingFrame():
                watch.speech_stopped(now)
            case UserStartedSpeakingFrame():
                self._decided = False
                watch.turn_opened(now)
            case TranscriptionFrame():
                watch.heard(now, final=frame.finalized)
            case NothingHeardFrame() | RecogniserFailedFrame() | OwnVoiceFrame(final=True):
                watch.heard_nothing(now)
            case TurnEndFrame():
                self._decided = frame.ended_by not in NO_WORDS
                watch.turn_ended(now, wants_answer=self._decided, answering=frame.confirmed)
            case UserStoppedSpeakingFrame():
                watch.turn_closed(now, decided=self._decided)
            case InterruptionFrame():
                watch.interrupted(now)
            case _:
                return False
        return True

    def _answer(self, frame: Frame, now: float) -> bool:
        """Note what concerns the answer; returns whether anything does."""
        watch = self._watch
        match frame:
            case AnswerTextFrame() if not frame.skip_tts:
                watch.text_came(now, clauses=len(frame.clauses))
            case LLMTextFrame():
                watch.text_came(now, clauses=0)
            case LLMFullResponseEndFrame():
                watch.model_ended(now)
            case FunctionCallInProgressFrame(cancel_on_interruption=True):
                watch.tool_began(now, frame.tool_call_id)
            case FunctionCallResultFrame():
                goes_on = frame.run_llm is not False and (
                    frame.properties is None or frame.properties.run_llm is not False
                )
                watch.tool_ended(now, frame.tool_call_id, goes_on=goes_on)
            case FunctionCallCancelFrame():
                watch.tool_ended(now, frame.tool_call_id, goes_on=frame.run_llm)
            case ToolCalledFrame():
                watch.tool_began(now, TOOL)
            case ToolReturnedFrame():
                watch.tool_ended(now, TOOL, goes_on=True)
            case TTSSpeakFrame():
                watch.to_speak(now, reason=isinstance(frame, HangReasonFrame))
            case AggregatedTextFrame() if frame.will_be_spoken and not isinstance(frame, TTSTextFrame):
                watch.speech_begun(now, of_answer=frame.text_type != HOLD_PHRASE)
            case BotStoppedSpeakingFrame():
                watch.spoke(now)
            case _:
                return False
        return True
