"""Converts the caller's audio to an agent's sample rate as it is spoken, without delaying it as a long filter would."""

from math import gcd

import numpy as np

from voice.client.sound.pcm import RATE, Pcm, to_int16

REACH = 15
"""Samples of the lower rate on either side of the filter, which delays the audio by as much: 1.9 ms at 8 kHz."""
PASSED = 0.45
"""Share of the lower rate that passes; aliases are 50 dB lower."""


class RateConverter:
    """Converts 16 kHz audio, chunk by chunk, with a short windowed sinc.

    Args:
        to_rate: hertz.
    """

    def __init__(self, to_rate: int) -> None:
        common = gcd(RATE, to_rate)
        self._up, self._down = to_rate // common, RATE // common
        half = REACH * max(self._up, self._down)
        at = np.arange(-half, half + 1) / max(self._up, self._down)
        taps = np.sinc(2 * PASSED * at) * np.hamming(len(at))
        self._taps = taps * self._up / taps.sum()
        self._tail = np.zeros(len(taps) - 1)
        self._position = 0

    def push(self, pcm: Pcm) -> Pcm:
        """The next samples at the other rate."""
        if self._up == self._down:
            return pcm
        spread = np.zeros(len(pcm) * self._up)
        spread[:: self._up] = pcm / 32768
        whole = np.concatenate([self._tail, spread])
        self._tail = whole[len(spread) :]
        filtered = np.convolve(whole, self._taps, "valid")
        taken = filtered[-self._position % self._down :: self._down]
        self._position = (self._position + len(spread)) % self._down
        return to_int16(taken)
