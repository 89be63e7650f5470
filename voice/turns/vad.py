"""Voice activity detection of a call: Silero on a session shared by all calls, and its processor in the pipeline.

While the agent is silent, a turn starts as soon as the detector reports the start of speech. While it speaks, the words
decide (`voice.turns.barge_in`), except with `barge_in.mode = "speech"`, where even a long and clear "mm-hm" interrupts.
Speech starts with a window (32 ms at 16 kHz) that meets all these conditions:

1. Silero is at least `vad.confidence` (0.7) sure that the window is speech.
2. Its mean confidence over the last 4/3 of `vad.start_ms` (8 windows, 256 ms) is at least a third of the way from
   `vad.confidence` to 1 (0.8): `VadOnset`.
3. The window is loud enough: pipecat's smoothed loudness is at least `vad.min_volume` (0.4).

pipecat alone requires the confidence and the loudness of every window in `vad.start_ms`. A soft consonant or a dip in
the first vowel then restarts the count, and after digital silence the smoothed loudness takes three windows to rise.
With a mean over a third more time, clear windows make up for a doubtful one, and sound that is only moderately like
speech (the agent's echo, voices in the room) takes longer than a caller's speech.

Measured on 101 onsets of people in calls, each at four positions of the windows (17 recordings with digital silence
between them): speech starts 232 ms after the labelled onset (median) instead of 258 ms, 95 % within 286 ms instead of
309 ms. These of the pieces of 3 s without a caller's speech start it: echo that peaks at -40 dBFS 22 of 59 instead of
31, nine soft voices at once 20 of 39 instead of 23, hums of 0.1 to 0.3 s 15 instead of 16. Of speech cut to 0.19 s, 6 %
instead of 4 % starts it; of speech cut to 0.26 s, 63 % instead of 66 %. With a mean of 0.75, speech would start 12 ms
sooner, and hums would start it in 23 of 39.
"""

import copy
import logging
import math
from collections import deque
from collections.abc import Awaitable, Callable

import numpy as np
from pipecat.audio.vad.silero import SileroOnnxModel, SileroVADAnalyzer
from pipecat.audio.vad.vad_analyzer import VADAnalyzer, VADParams, VADState
from pipecat.frames.frames import Frame, InputAudioRawFrame
from pipecat.processors.audio.vad_processor import VADProcessor
from pipecat.processors.frame_processor import FrameDirection

from voice.frames import EagerHintFrame, SpeechResumedFrame

MEAN_OVER = 4 / 3
"""The time over which the mean is taken, as a share of `vad.start_ms`."""
MEAN_RISE = 1 / 3
"""The required mean, as a fraction of the way from `vad.confidence` to 1."""
DOUBTFUL = 0.3
"""Confidence from which a window of 32 ms may be the start of speech.

After 130 pauses of human callers, speech reaches it 47 ms after the end of the pause (median; nine in ten within 78),
24 ms before the detector begins to count a start. After 154 true ends no window reaches it; with noise like a room full
of voices, 10 dB below the speech, a window reaches it after 4 of 81 ends.
"""
DOUBTFUL_WINDOWS = 4
"""Windows after which a sound that the detector still does not count is not a start of speech."""
LIKELY_SOONER = 2
"""The share of the windows needed to report speech after which speech is likely."""
CLOCK_ROUNDING = 1e-6
FAILURES_IN_A_ROW = 10
"""Consecutive failures of the detector, on audio messages of 20 ms each, before it is given up."""
log = logging.getLogger(__name__)


class VadOnset:
    """Finds the start of speech in a sequence of confidences, one per window. Pure.

    Args:
        windows: how many windows `vad.start_ms` lasts.
        confidence: the least confidence of the latest window, 0 to 1.
    """

    def __init__(self, windows: int, confidence: float) -> None:
        self._heard: deque[float] = deque(maxlen=round(MEAN_OVER * max(windows, 1)))
        self._least = confidence
        self._mean = confidence + MEAN_RISE * (1 - confidence)

    def hear(self, confidence: float) -> bool:
        """Add the confidence of a window; returns whether speech starts with it if it is loud enough."""
        self._heard.append(confidence)
        return confidence >= self._least and sum(self._heard) >= self._mean * (self._heard.maxlen or 1)

    def clear(self) -> None:
        """Forget the windows heard: speech has started or ended."""
        self._heard.clear()


class SharedSilero(SileroVADAnalyzer):
    """One call's voice activity detector: its own recurrent state on the shared Silero session."""

    def __init__(self, model: SileroOnnxModel, params: VADParams) -> None:
        # Not SileroVADAnalyzer's own initialiser, which would load the model again.
        VADAnalyzer.__init__(self, params=params)
        self._model = copy.copy(model)
        self._model.reset_states()
        self._windows_since_reset = 0
        self._low_confidence_windows = 0
        self._doubtful = 0

    def set_params(self, params: VADParams) -> None:
        """Change the parameters; the detector forgets all audio so far."""
        super().set_params(params)
        self._start = VadOnset(self._vad_start_frames, params.confidence)
        self._early = VadOnset(round(self._vad_start_frames / LIKELY_SOONER), params.confidence)
        self._likely = False
        self._doubtful = 0

    async def analyze_audio(self, buffer: bytes) -> VADState:
        """Analyse audio on the event loop: a window takes 0.3 ms.

        pipecat uses a thread per call. Handing audio over and waiting twice for the interpreter's lock takes the loop
        as long as the work itself, and with eight calls the threads and the loop block one another.
        """
        return self._run_analyzer(buffer)

    def voice_confidence(self, buffer: bytes) -> float:
        """The confidence that a window is speech, 0 to 1; `VadOnset` decides whether speech starts.

        Raises:
            ValueError: the model's output is out of range. The engine itself may raise any type of error.
        """
        # pipecat's own method treats every error of the model as silence.
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
            # If this window is loud enough, pipecat counts it as well, and reaches the number that starts speech.
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
        """Whether the latest sound is likely to be the start of speech: enough to duck the answer, not to stop it."""
        return self._likely and self.may_be_starting

    @property
    def in_doubt(self) -> bool:
        """Whether the latest sound, still too soft or unclear to count, may yet prove to be the start of speech."""
        return 0 < self._doubtful <= DOUBTFUL_WINDOWS

    @property
    def pause(self) -> float | None:
        """Seconds of silence inside speech, 0 while there is sound; None when the caller is not speaking."""
        if self._vad_state is VADState.STOPPING:
            return self._vad_stopping_count * self._vad_frames / self.sample_rate
        return 0.0 if self._vad_state is VADState.SPEAKING else None


class HintingVADProcessor(VADProcessor):
    """pipecat's processor, with an `EagerHintFrame` after a short silence and a `SpeechResumedFrame` if speech goes on.

    The hint comes from the detector's own count of silent windows (32 ms each), so hints do not make its later stop
    less reliable.

    Args:
        vad: the call's detector.
        hint: seconds of silence; None gives no hints.
        given_up: called once, with the reason, when the detector keeps failing and so no longer hears the caller.
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
        """Count a failure: log the first of a row, and give up after several."""
        self._failures += 1
        if self._failures == 1:
            log.warning("the voice detector failed: %s", error)
        elif self._failures == FAILURES_IN_A_ROW and self._given_up is not None:
            await self._given_up(f"the voice detector failed: {error}")
