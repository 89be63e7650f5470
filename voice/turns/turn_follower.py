"""Follows the turns of a call by its frames: who speaks, when a turn ends, and the work on its answer. Pure."""

from collections.abc import Callable
from typing import Generic, TypeVar

from pipecat.frames.frames import (
    AggregatedTextFrame,
    BotStartedSpeakingFrame,
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
    EagerHintFrame,
    HangReasonFrame,
    LLMFailureFrame,
    NothingHeardFrame,
    OwnVoiceFrame,
    RecogniserFailedFrame,
    RevisedTranscriptionFrame,
    SpeechResumedFrame,
    ToolCalledFrame,
    ToolReturnedFrame,
    TurnEndFrame,
)

TOOL = "a tool that no model called"
Changed = TypeVar("Changed", covariant=True)
"""A follower's result of an event; None for nothing."""


def counts(pushed: FramePushed) -> bool:
    """Whether a follower should see this push of a frame: frames pushed both ways count once."""
    downstream = pushed.direction is FrameDirection.DOWNSTREAM
    if isinstance(pushed.frame, LLMContextFrame):
        # A tool's result comes upstream. The assistant's aggregator also pushes its context downstream, to no effect.
        return not downstream or isinstance(pushed.destination, LLMService)
    return downstream


class TurnFollower(Generic[Changed]):
    """Turns frames into events: the methods below, which a follower overrides as needed.

    Instants are seconds on any one clock. An event may return what it has changed.
    """

    def see(self, pushed: FramePushed) -> Changed | None:
        """Follow a frame pushed for the first time, if this push counts."""
        if not counts(pushed):
            return None
        frame, now = pushed.frame, pushed.timestamp / 1e9
        if isinstance(frame, TTSAudioRawFrame) and isinstance(pushed.source, BaseOutputTransport):
            return self.speech_sent(now, frame.num_frames / frame.sample_rate)
        return self.follow(frame, now)

    def follow(self, frame: Frame, now: float) -> Changed | None:
        """Turn a frame into an event."""
        match frame:
            case VADUserStartedSpeakingFrame():
                return self.speech_started(now)
            case EagerHintFrame():
                return self.speech_may_have_stopped(now, frame.silence)
            case SpeechResumedFrame():
                return self.speech_resumed(now)
            case VADUserStoppedSpeakingFrame():
                return self.speech_stopped(now, frame.stop_secs)
            case UserStartedSpeakingFrame():
                return self.turn_opened(now)
            case TranscriptionFrame():
                revised = isinstance(frame, RevisedTranscriptionFrame)
                return self.heard(now, frame.text, final=frame.finalized, revised=revised)
            case NothingHeardFrame() | RecogniserFailedFrame() | OwnVoiceFrame(final=True):
                return self.heard_nothing(now)
            case TurnEndFrame():
                return self.turn_ended(now, frame)
            case UserStoppedSpeakingFrame():
                return self.turn_closed(now)
            case InterruptionFrame():
                return self.interrupted(now)
            case LLMContextFrame():
                return self.asked_ahead(now) if frame.speculation else self.asked(now)
            case _:
                return self._answer(frame, now)

    def _answer(self, frame: Frame, now: float) -> Changed | None:
        match frame:
            case LLMFailureFrame():
                return self.model_failed(now, frame.reason, clauses=0 if frame.skip_tts else len(frame.clauses))
            case AnswerTextFrame() if not frame.skip_tts:
                return self.text_came(now, clauses=len(frame.clauses))
            case LLMTextFrame():
                return self.text_came(now, clauses=0)
            case LLMFullResponseEndFrame():
                return self.model_ended(now)
            case FunctionCallInProgressFrame():
                return self.tool_began(now, frame.tool_call_id, awaited=frame.cancel_on_interruption)
            case FunctionCallResultFrame():
                goes_on = frame.run_llm is not False and (
                    frame.properties is None or frame.properties.run_llm is not False
                )
                return self.tool_ended(now, frame.tool_call_id, goes_on=goes_on)
            case FunctionCallCancelFrame():
                return self.tool_cancelled(now, frame.tool_call_id, goes_on=frame.run_llm)
            case ToolCalledFrame():
                return self.tool_began(now, TOOL)
            case ToolReturnedFrame():
                return self.tool_ended(now, TOOL, goes_on=True)
            case TTSSpeakFrame():
                return self.to_speak(now, reason=isinstance(frame, HangReasonFrame))
            case AggregatedTextFrame() if frame.will_be_spoken and not isinstance(frame, TTSTextFrame):
                of_answer = frame.text_type != HOLD_PHRASE
                return self.speech_begun(now, frame.text, frame.context_id, of_answer=of_answer)
            case TTSAudioRawFrame():
                return self.speech_made(now, frame.num_frames / frame.sample_rate, frame.context_id)
            case BotStartedSpeakingFrame():
                return self.agent_started(now)
            case BotStoppedSpeakingFrame():
                return self.agent_stopped(now)
            case _:
                return None

    def speech_started(self, now: float) -> Changed | None:
        """The voice detector reports the caller's speech."""

    def speech_may_have_stopped(self, now: float, silence: float) -> Changed | None:
        """A short silence hints that speech may have ended."""

    def speech_resumed(self, now: float) -> Changed | None:
        """The latest hint was wrong."""

    def speech_stopped(self, now: float, silence: float) -> Changed | None:
        """The voice detector reports the end of speech, after so many seconds of silence."""

    def turn_opened(self, now: float) -> Changed | None:
        """The caller's speech is a turn, which interrupts any answer."""

    def heard(self, now: float, text: str, *, final: bool = True, revised: bool = False) -> Changed | None:
        """The recogniser gave text of the turn; `revised` if it replaces the latest one."""

    def heard_nothing(self, now: float) -> Changed | None:
        """The recogniser found no further words, or reports a failure."""

    def turn_ended(self, now: float, end: TurnEndFrame) -> Changed | None:
        """Turn taking has decided that the turn has ended; its commit may come before or after this."""

    def turn_closed(self, now: float) -> Changed | None:
        """The turn is committed: by turn taking, or because the pipeline stopped waiting for it."""

    def interrupted(self, now: float) -> Changed | None:
        """The answer is interrupted."""

    def asked(self, now: float) -> Changed | None:
        """An answer is requested: the first of the turn, or one with a tool's result."""

    def asked_ahead(self, now: float) -> Changed | None:
        """A speculative answer is requested."""

    def text_came(self, now: float, *, clauses: int) -> Changed | None:
        """A model gave text of an answer; so many of its clauses are complete and go to synthesis."""

    def model_failed(self, now: float, reason: str, *, clauses: int = 0) -> Changed | None:
        """The language model failed, before or during its answer; an apology of so many clauses is spoken."""

    def model_ended(self, now: float) -> Changed | None:
        """A model's response is over."""

    def tool_began(self, now: float, name: str, *, awaited: bool = True) -> Changed | None:
        """A tool runs; `awaited`: the answer waits for it."""

    def tool_ended(self, now: float, name: str, *, goes_on: bool) -> Changed | None:
        """A tool has ended; `goes_on`: a model is asked again with its result."""

    def tool_cancelled(self, now: float, name: str, *, goes_on: bool) -> Changed | None:
        """A tool was cancelled; `goes_on`: a model is still asked again."""

    def to_speak(self, now: float, *, clauses: int = 1, reason: bool = False) -> Changed | None:
        """Words from no model go to synthesis; `reason`: they give the reason for a silence."""

    def speech_begun(self, now: float, text: str, context: str | None, *, of_answer: bool = True) -> Changed | None:
        """Synthesis begins a clause, in one of its contexts; `of_answer`: it is not a filler phrase."""

    def speech_made(self, now: float, seconds: float, context: str | None) -> Changed | None:
        """Synthesis has produced so many seconds of audio."""

    def speech_sent(self, now: float, seconds: float) -> Changed | None:
        """So many seconds of audio were sent."""

    def agent_started(self, now: float) -> Changed | None:
        """The first audio of an utterance is about to be sent."""

    def agent_stopped(self, now: float) -> Changed | None:
        """The utterance was sent in full, or was interrupted."""


class FollowerObserver(BaseObserver):
    """Shows the frames of a call to a follower.

    Args:
        follower: sees each frame once.
        seen: called after that.
    """

    def __init__(self, follower: TurnFollower[object], seen: Callable[[], None] = lambda: None) -> None:
        super().__init__(observe_every_push=False)
        self._follower, self._seen = follower, seen

    async def on_push_frame(self, data: FramePushed) -> None:
        """A frame was pushed for the first time."""
        self._follower.see(data)
        self._seen()
