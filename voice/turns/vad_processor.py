"""The voice activity detector in the pipeline, which also hints at ends of speech before it is sure of them."""

from pipecat.frames.frames import Frame, InputAudioRawFrame
from pipecat.processors.audio.vad_processor import VADProcessor
from pipecat.processors.frame_processor import FrameDirection

from voice.turns.models import SharedSilero
from voice.turns.turn_frames import EagerHintFrame, SpeechResumedFrame

ROUNDING = 1e-6


class HintingVADProcessor(VADProcessor):
    """pipecat's processor, with an `EagerHintFrame` after a short silence and a `SpeechResumedFrame` if that was wrong.

    The hint comes from the detector's own count of silent windows (32 ms each), so that the stop it reports later is
    as safe as without hints.

    Args:
        vad: the call's detector.
        hint: seconds of silence; None gives no hints.
    """

    def __init__(self, *, vad: SharedSilero, hint: float | None) -> None:
        super().__init__(vad_analyzer=vad)
        self._vad = vad
        self._hint = hint
        self._hinted = False

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Detect speech, then tell what it hints at."""
        await super().process_frame(frame, direction)
        if self._hint is None or not isinstance(frame, InputAudioRawFrame):
            return
        pause = self._vad.pause
        if pause is None:
            # The stop was reported, or nobody speaks.
            self._hinted = False
        elif not self._hinted and pause >= self._hint - ROUNDING:
            self._hinted = True
            await self.push_frame(EagerHintFrame(silence=pause))
        elif self._hinted and not pause:
            self._hinted = False
            await self.push_frame(SpeechResumedFrame())
