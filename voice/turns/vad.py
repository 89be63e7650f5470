"""Voice activity detection of a call: Silero on a session that all calls share, and its processor in the pipeline."""

import copy
import logging
import math
from collections.abc import Awaitable, Callable

import numpy as np
from pipecat.audio.vad.silero import SileroOnnxModel, SileroVADAnalyzer
from pipecat.audio.vad.vad_analyzer import VADAnalyzer, VADParams, VADState
from pipecat.frames.frames import Frame, InputAudioRawFrame
from pipecat.processors.audio.vad_processor import VADProcessor
from pipecat.processors.frame_processor import FrameDirection

from voice.frames import EagerHintFrame, SpeechResumedFrame
from voice.turns.vad_onset import VadOnset

DOUBTFUL = 0.3
"""Confidence from which a window of 32 ms may be the start of speech.

After 130 pauses of human callers, speech reaches it 47 ms after the end of the pause (median; nine in ten within 78),
24 ms before the detector begins to count a start. After 154 true ends no window reaches it; with noise like a room full
of voices, 10 dB below the speech, a window reaches it after 4 of 81 ends.
"""
DOUBTFUL_WINDOWS = 4
"""Windows in a row after which a sound that the detector does not count yet is no start of speech."""
LIKELY_SOONER = 2
"""Speech is likely after this part of the windows that the detector needs to report it."""
CLOCK_ROUNDING = 1e-6
FAILURES_IN_A_ROW = 10
"""Messages of audio (20 ms each) in a row on which the detector fails before it is given up."""
log = logging.getLogger(__name__)


class SharedSilero(SileroVADAnalyzer):
    """One call's voice activity detector: its own recurrent state on the shared Silero session.

    What counts as the start of speech, and so interrupts the agent, is described in `voice.turns.vad_onset`.
    """

    def __init__(self, model: SileroOnnxModel, params: VADParams) -> None:
        # Not SileroVADAnalyzer's own initialiser, which would load the model again.
        VADAnalyzer.__init__(self, params=params)
        self._model = copy.copy(model)
        self._model.reset_states()
        self._windows_since_reset = 0
        self._low_confidence_windows = 0
        self._doubtful = 0

    def set_params(self, params: VADParams) -> None:
        """Change what counts as speech; the detector forgets what it has heard so far."""
        super().set_params(params)
        self._start = VadOnset(self._vad_start_frames, params.confidence)
        self._early = VadOnset(round(self._vad_start_frames / LIKELY_SOONER), params.confidence)
        self._likely = False
        self._doubtful = 0

    async def analyze_audio(self, buffer: bytes) -> VADState:
        """Hear audio, on the event loop: a window takes 0.3 ms.

        pipecat does it in a thread for each call. Handing audio over and waiting for the interpreter's lock twice takes
        the loop as long as the work itself, and with eight calls the threads and the loop wait for one another.
        """
        return self._run_analyzer(buffer)

    def voice_confidence(self, buffer: bytes) -> float:
        """Confidence that a window is speech, 0 to 1; `VadOnset` decides whether speech starts with it.

        Raises:
            ValueError: the model gave something else. The engine raises other errors of any type.
        """
        # pipecat's own method takes every error of the model for silence.
        samples = np.frombuffer(buffer, np.int16).astype(np.float32) / 32768
        confidence = float(np.asarray(self._model(samples, self.sample_rate)).item())
        if not math.isfinite(confidence):
            raise ValueError(f"it gave a confidence of {confidence}")
        self._maybe_reset_model(confidence)
        self._doubtful = self._doubtful + 1 if confidence >= min(DOUBTFUL, self.params.confidence) else 0
        self._likely = self._early.hear(confidence)
        if self._vad_state in (VADState.SPEAKING, VADState.STOPPING):
            self._start.clear()
            self._early.clear()
        elif self._start.hear(confidence):
            # If this window is loud enough, pipecat counts it too, and so reaches the number that starts speech.
            self._vad_state, self._vad_starting_count = VADState.STARTING, self._vad_start_frames - 1
        else:
            self._vad_starting_count = 0
        return confidence

    @property
    def may_be_starting(self) -> bool:
        """Whether the latest sound may be the start of speech; the detector needs `start_secs` to be sure."""
        return self._vad_state is VADState.STARTING

    @property
    def is_likely(self) -> bool:
        """Whether the latest sound is likely to be the start of speech: enough to speak more softly, not to stop."""
        return self._likely and self.may_be_starting

    @property
    def in_doubt(self) -> bool:
        """Whether the latest sound, still too soft or unclear to count, may turn out to be the start of speech."""
        return 0 < self._doubtful <= DOUBTFUL_WINDOWS

    @property
    def pause(self) -> float | None:
        """Seconds of silence inside speech, 0 while there is sound; None when the caller is not speaking."""
        if self._vad_state is VADState.STOPPING:
            return self._vad_stopping_count * self._vad_frames / self.sample_rate
        return 0.0 if self._vad_state is VADState.SPEAKING else None


class HintingVADProcessor(VADProcessor):
    """pipecat's processor, with an `EagerHintFrame` after a short silence and a `SpeechResumedFrame` if speech goes on.

    The hint comes from the detector's own count of silent windows (32 ms each), so that the stop it reports later is
    as safe as without hints.

    Args:
        vad: the call's detector.
        hint: seconds of silence; None gives no hints.
        given_up: called once, with the reason, when the detector fails again and again: nobody would hear the caller.
    """

    def __init__(
        self, *, vad: SharedSilero, hint: float | None, given_up: Callable[[str], Awaitable[None]] | None = None
    ) -> None:
        super().__init__(vad_analyzer=vad)
        self._given_up, self._failures = given_up, 0
        self._vad = vad
        self._hint = hint
        self._hinted = False

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Detect speech, then push a hint at its end if there is one."""
        if not isinstance(frame, InputAudioRawFrame):
            await super().process_frame(frame, direction)
            return
        try:
            await super().process_frame(frame, direction)
        except Exception as error:
            # The engine raises errors of any type.
            await self._failed(error)
            return
        self._failures = 0
        if self._hint is None:
            return
        pause = self._vad.pause
        if pause is None:
            # The stop was reported, or the caller is not speaking.
            self._hinted = False
        elif not self._hinted and pause >= self._hint - CLOCK_ROUNDING:
            self._hinted = True
            await self.push_frame(EagerHintFrame(silence=pause))
        elif self._hinted and not pause:
            self._hinted = False
            await self.push_frame(SpeechResumedFrame())

    async def _failed(self, error: Exception) -> None:
        """Audio was not analysed: log the first one in a row, and give up after some."""
        self._failures += 1
        if self._failures == 1:
            log.warning("the voice detector failed: %s", error)
        elif self._failures == FAILURES_IN_A_ROW and self._given_up is not None:
            await self._given_up(f"the voice detector failed: {error}")
