"""Measures how long synthesis takes from an answer's first clause to its first sample; deadlines allow for that time.

It measures once per turn, and only if nothing was spoken before the answer: after a phrase, the answer waits for the
phrase's audio.
"""

from collections.abc import Callable

from pipecat.frames.frames import (
    AggregatedTextFrame,
    Frame,
    LLMContextFrame,
    TTSAudioRawFrame,
    TTSTextFrame,
    UserStartedSpeakingFrame,
)
from pipecat.observers.base_observer import BaseObserver, FramePushed
from pipecat.processors.frame_processor import FrameDirection

from voice.frames import HOLD_PHRASE, LLMFailureFrame


class SynthesisTimes(BaseObserver):
    """Watches the frames of a call.

    Args:
        measured: takes each time, in seconds.
    """

    def __init__(self, measured: Callable[[float], None]) -> None:
        super().__init__(observe_every_push=False)
        self._measured = measured
        self._done = True
        self._asked = False
        self._context: str | None = None
        self._since = 0.0

    async def on_push_frame(self, data: FramePushed) -> None:
        """A frame was pushed for the first time."""
        if data.direction is FrameDirection.DOWNSTREAM:
            self.note(data.frame, data.timestamp / 1e9)

    def note(self, frame: Frame, now: float) -> None:
        """A frame went downstream at `now`, seconds."""
        match frame:
            case UserStartedSpeakingFrame():
                self._done, self._asked, self._context = False, False, None
            case LLMContextFrame():
                self._asked = True
            case LLMFailureFrame():
                self._done = True
            case AggregatedTextFrame() if frame.will_be_spoken and not isinstance(frame, TTSTextFrame):
                if frame.text_type == HOLD_PHRASE:
                    self._done = True
                elif self._asked and self._context is None:
                    self._context, self._since = frame.context_id, now
            case TTSAudioRawFrame() if frame.context_id is not None and frame.context_id == self._context:
                if not self._done:
                    self._measured(now - self._since)
                self._done = True
            case _:
                pass
