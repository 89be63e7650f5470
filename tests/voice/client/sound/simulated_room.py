"""A simulated room: what a microphone hears of a loudspeaker that plays the bot's voice. Pure."""

import numpy as np
import numpy.typing as npt

from voice.client.sound.pcm import RATE, Pcm, to_int16

REVERBERATION = 0.35
"""Seconds in which the sound decays by 60 dB: a furnished living room."""
DIRECT_TO_REVERBERANT = 2.0
"""dB by which the direct sound exceeds the reverberation, at arm's length from a laptop or a small loudspeaker."""
NOISE = -65.0
"""dBFS of the microphone's and the room's own noise."""
_TAPS = 16
"""Half the length of the interpolation, samples."""

_Floats = npt.NDArray[np.float64]


def impulse_response(*, seed: int) -> _Floats:
    """Direct sound and exponentially decaying noise, heard through a small loudspeaker; 1 of speech's power passes."""
    length = round(REVERBERATION * RATE)
    at = np.arange(length) / RATE
    tail = np.random.default_rng(seed).standard_normal(length) * 10 ** (-3 * at / REVERBERATION)
    # The first reflection comes from the desk, 1.5 ms after the direct sound.
    tail[: round(0.0015 * RATE)] = 0
    response = tail / np.linalg.norm(tail) * 10 ** (-DIRECT_TO_REVERBERANT / 20)
    response[0] = 1.0
    spectrum = np.fft.rfft(response, 2 * length)
    hertz = np.fft.rfftfreq(2 * length, 1 / RATE)
    # A loudspeaker of a few centimetres: two poles at 200 Hz.
    through: _Floats = np.fft.irfft(spectrum / (1 + (200 / np.maximum(hertz, 1)) ** 4) ** 0.5)[:length]
    return through / np.linalg.norm(through)


class SimulatedRoom:
    """Takes what is played and what the user says, and returns what the microphone hears.

    Args:
        delay: seconds from a sample being played to its direct sound being heard, at least 2 ms.
        level: dB of the echo against what is played.
        drift: how much faster the microphone's clock runs than the loudspeaker's, in parts per million.
        seed: of the reverberation and the noise.
    """

    def __init__(self, *, delay: float, level: float, drift: float = 0.0, seed: int = 1) -> None:
        self._response = impulse_response(seed=seed) * 10 ** (level / 20)
        self._delay, self._drift = delay * RATE, drift * 1e-6
        self._noise = np.random.default_rng(seed + 1)
        self._overlap = np.zeros(len(self._response) - 1)
        before = round(self._delay) + 2 * _TAPS + 1
        self._wet = np.zeros(before)
        """The echo on the loudspeaker's clock; its first sample is number `_first`."""
        self._first = -before
        self._heard = 0

    def hear(self, played: Pcm, said: Pcm | None = None) -> Pcm:
        """The microphone's samples while `played` is played; as many as those."""
        echo = self._delayed(len(played), self._reverberated(played))
        noise = self._noise.standard_normal(len(played)) * 32768 * 10 ** (NOISE / 20)
        user = np.zeros(len(played)) if said is None else said.astype(np.float64)
        return to_int16((echo + user + noise) / 32768)

    def _reverberated(self, played: Pcm) -> _Floats:
        size = len(played) + len(self._response) - 1
        fast = 1 << (size - 1).bit_length()
        wet = np.fft.irfft(np.fft.rfft(played, fast) * np.fft.rfft(self._response, fast), fast)[:size]
        tail = np.zeros(max(size, len(self._overlap)))
        tail[: len(self._overlap)] += self._overlap
        tail[:size] += wet
        self._overlap = tail[len(played) :]
        now: _Floats = tail[: len(played)]
        return now

    def _delayed(self, count: int, wet: _Floats) -> _Floats:
        self._wet = np.concatenate([self._wet, wet])
        numbers = np.arange(self._heard, self._heard + count)
        self._heard += count
        # A faster microphone takes more samples of the same sound: each is earlier by the drift so far.
        at = numbers * (1 - self._drift) - self._delay - self._first
        whole = np.floor(at).astype(np.int64)
        part = at - whole
        heard = np.zeros(count)
        for tap in range(1 - _TAPS, _TAPS + 1):
            away = part - tap
            heard += self._wet[whole + tap] * np.sinc(away) * (0.5 + 0.5 * np.cos(np.pi * away / (_TAPS + 1)))
        used = max(0, int(whole[0]) - 2 * _TAPS if count else 0)
        self._wet = self._wet[used:]
        self._first += used
        return heard
