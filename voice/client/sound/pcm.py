"""16-bit audio in memory: the call's format, and conversion between sample rates.

Conversion runs in float32 and rounds once. soxr's own 16-bit output is dithered, so the same input would not give the
same bytes twice, and digital silence would not stay silent.
"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import soxr

from voice.wire.endpoint import IN_RATE

Pcm: TypeAlias = npt.NDArray[np.int16]
"""Mono samples, 16-bit signed."""

RATE = IN_RATE
"""Sample rate of the client's audio and of recordings, in hertz."""

MESSAGE_SAMPLES = RATE * 16 // 1000
"""Samples in one message of the user's audio: 16 ms. Two make a window of the server's speech detector (Silero's 512
samples), so that no window waits for the rest of a message; with messages of 20 ms it would wait 8 ms on average."""

_CHUNK = 10
"""Seconds converted at once, so that memory never holds an hour of audio as floats."""


class StreamResampler:
    """Converts a stream of int16 samples to another rate, chunk by chunk, without clicks at the joints.

    Args:
        from_rate: Hertz of the input.
        to_rate: Hertz of the result; if it equals `from_rate`, samples pass through.
        quality: soxr's name; LQ holds back 20 ms of speech until more arrives, HQ 40 ms.
    """

    def __init__(self, from_rate: int, to_rate: int, *, quality: str = "LQ") -> None:
        same = from_rate == to_rate
        self._stream = None if same else soxr.ResampleStream(from_rate, to_rate, 1, dtype="float32", quality=quality)

    def push(self, pcm: Pcm) -> Pcm:
        """Convert the next samples, except those that the filter holds back."""
        return self._convert(pcm, last=False)

    def flush(self) -> Pcm:
        """The samples held back by the filter; the next push starts a new stream."""
        return self._convert(np.zeros(0, np.int16), last=True)

    def _convert(self, pcm: Pcm, *, last: bool) -> Pcm:
        if self._stream is None:
            return pcm
        converted = to_int16(self._stream.resample_chunk(pcm.astype(np.float32) / 32768, last=last))
        if last:
            self._stream.clear()
        return converted


def resample(pcm: Pcm, from_rate: int, to_rate: int) -> Pcm:
    """All of `pcm` at another rate; sample 0 stays sample 0 (no filter delay)."""
    if from_rate == to_rate or not len(pcm):
        return pcm
    stream = StreamResampler(from_rate, to_rate, quality="HQ")
    step = _CHUNK * from_rate
    parts = [stream.push(pcm[at : at + step]) for at in range(0, len(pcm), step)]
    return np.concatenate([*parts, stream.flush()])


def to_int16(samples: npt.NDArray[np.floating]) -> Pcm:
    """Floats with full scale 1.0 to int16; louder ones are clipped."""
    scaled: Pcm = np.clip(np.rint(samples * 32768), -32768, 32767).astype(np.int16)
    return scaled
