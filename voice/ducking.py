"""Makes the agent's voice softer while the caller may be interrupting, with a short fade. Pure.

The setting `barge_in.duck_db` (pipelines/settings.py) is the depth; `voice.turns.barge_in.decision` decides when.
"""

import numpy as np

FADE = 0.03
"""Seconds from silence to full volume: short enough to be heard at once, long enough not to click."""


class Ducking:
    """A gain that moves towards its target while audio passes.

    Args:
        sample_rate: hertz.
    """

    def __init__(self, *, sample_rate: int) -> None:
        self._step = 1 / (FADE * sample_rate)
        self._gain = 1.0
        self.target = 1.0
        """The target gain, 0 to 1."""

    def reset(self) -> None:
        """Go to full volume at once: another utterance begins."""
        self._gain = self.target = 1.0

    def apply(self, audio: bytes) -> bytes:
        """The next audio, 16-bit mono, with the gain applied."""
        if self._gain == self.target == 1.0 or not audio:
            return audio
        samples = np.frombuffer(audio, np.int16)
        direction = np.sign(self.target - self._gain)
        ramp = self._gain + direction * self._step * np.arange(1, len(samples) + 1)
        ramp = np.clip(ramp, min(self._gain, self.target), max(self._gain, self.target))
        self._gain = float(ramp[-1])
        return bytes(np.rint(samples * ramp).astype(np.int16).tobytes())
