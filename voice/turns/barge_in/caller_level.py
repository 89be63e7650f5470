"""How loud the caller usually speaks, and whether a voice is so much softer that it is somebody else's. Pure."""

import math
from collections import deque

import numpy as np

REMEMBERED = 4
"""Stretches of speech whose level counts; the caller's usual level is their median."""
SHORTEST = 0.3
"""Seconds of speech from which a level is known."""
FULL_SCALE = 32768.0


class CallerLevel:
    """Levels of speech, in dB below full scale.

    Args:
        far: dB below the caller's usual level from which a voice is far off; 0 for no such limit.
    """

    def __init__(self, far: float) -> None:
        self._far = far
        self._usual: deque[float] = deque(maxlen=REMEMBERED)
        self._power = self._seconds = 0.0

    def hear(self, pcm: bytes, sample_rate: int) -> None:
        """Sound that is speech, or likely to be: 16-bit mono."""
        samples = np.frombuffer(pcm, np.int16).astype(np.float32) / FULL_SCALE
        seconds = len(samples) / sample_rate
        self._power += float(np.dot(samples, samples)) / max(1, len(samples)) * seconds
        self._seconds += seconds

    def clear(self) -> None:
        """A stretch of sound is over, and it was not the caller's."""
        self._power = self._seconds = 0.0

    def keep(self) -> None:
        """A stretch of the caller's speech is over: remember its level."""
        if self._seconds >= SHORTEST and self._power > 0:
            self._usual.append(self._level())
        self.clear()

    @property
    def is_far(self) -> bool:
        """Whether the sound since the last stretch is much softer than the caller; false while that is unknown."""
        if not self._far or not self._usual or self._seconds < SHORTEST or self._power <= 0:
            return False
        return self._level() < float(np.median(self._usual)) - self._far

    def _level(self) -> float:
        return 10 * math.log10(self._power / self._seconds)
