"""The audio of one utterance: pre-roll, speech, and earlier audio of the same turn.

It only counts samples, without a clock, a recogniser or a transport.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BYTES_PER_SAMPLE = 2  # signed 16 bit, mono, as on the wire
FADE, FADE_BLOCKS = 0.06, 30
"""Seconds of the latest stretch of audio, and the number of earlier stretches it is compared with."""
FADED = 0.03
"""Power relative to the loudest stretch: 15 dB below it. In 104 recordings of some 50 speakers (requests and
sentences), the last fade begins 22 ms before the labelled end (median; a quarter 81 ms or more before, a tenth 46 ms or
more after it), and two others begin per second of speech."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """The audio of one utterance."""

    pcm: bytes
    """Mono, signed 16 bit."""
    sample_rate: int
    """Hz."""
    dropped: float
    """Seconds dropped from the beginning because the utterance was longer than the buffer's limit."""

    @property
    def seconds(self) -> float:
        """Length of the audio."""
        return len(self.pcm) / (BYTES_PER_SAMPLE * self.sample_rate)

    def samples(self) -> NDArray[np.float32]:
        """The audio as float32 in -1..1, mono, shape (samples,)."""
        return np.frombuffer(self.pcm, dtype=np.int16).astype(np.float32) / 32768.0


class SegmentBuffer:
    """Collects audio into segments.

    Before an utterance it holds the last `pre_roll` seconds, because the detector reports speech with a delay. From
    then on it holds everything, including silence, up to the newest `limit` seconds, until the next utterance begins or
    `forget_earlier` is called. A sample belongs to two utterances only if one continues the other.

    Args:
        sample_rate: Hz.
        pre_roll: Seconds kept from before `open`.
        limit: Longest utterance, in seconds.
    """

    def __init__(self, *, sample_rate: int, pre_roll: float, limit: float) -> None:
        if not 0 <= pre_roll < limit:
            raise ValueError(f"pre_roll is {pre_roll} s and limit {limit} s; it must hold 0 <= pre_roll < limit")
        self._sample_rate = sample_rate
        self._pre_roll = pre_roll
        self._limit = limit
        self._pcm = bytearray()
        self._is_open = False
        self._dropped = 0
        self._ended = 0
        """Bytes up to the end of the last utterance; 0 if none of it is kept."""
        self._earlier = 0
        """Bytes of earlier utterances whose text is known, with the silence after them."""

    @property
    def has_earlier(self) -> bool:
        """Whether the audio begins with earlier utterances whose text is known."""
        return self._earlier > 0

    @property
    def seconds(self) -> float:
        """Length of the audio held."""
        return len(self._pcm) / (BYTES_PER_SAMPLE * self._sample_rate)

    @property
    def is_fading(self) -> bool:
        """Whether the last `FADE` seconds are much quieter than the audio before: a gap between words, or the end."""
        size = self._size(FADE)
        recent = np.frombuffer(self._pcm[-FADE_BLOCKS * size :], np.int16).astype(np.float32)
        blocks = recent[len(recent) % (size // BYTES_PER_SAMPLE) :].reshape(-1, size // BYTES_PER_SAMPLE)
        power = (blocks**2).mean(axis=1)
        return len(power) > 0 and bool(power[-1] < FADED * power.max())

    def append(self, pcm: bytes) -> None:
        """Add the next audio: mono, signed 16 bit."""
        self._pcm += pcm
        excess = len(self._pcm) - self._size(self._limit if self._is_open or self._ended else self._pre_roll)
        if excess > 0:
            self._cut(excess)
            self._dropped += excess if self._is_open or self._ended else 0

    def open(self, *, goes_on: bool = False) -> None:
        """Speech began; if it continues the last utterance, that one's audio and the silence come first."""
        start = 0 if self._is_open else max(self._ended, len(self._pcm) - self._size(self._pre_roll))
        if not goes_on:
            self._cut(start)
            self._dropped = 0
        elif self._earlier:
            # Once its text is known, the last utterance also becomes an earlier one.
            self._earlier = start if self._earlier == self._ended else self._earlier
        self._is_open, self._ended = True, 0

    def close(self) -> Segment | None:
        """Speech ended; returns its segment, or None if no speech had begun."""
        if not self._is_open:
            return None
        segment = self.copy()
        self._is_open, self._ended = False, len(self._pcm)
        return segment

    def text_is_known(self) -> None:
        """Mark the text of the last utterance and of all audio before it as known."""
        self._earlier = self._ended

    def forget_earlier(self) -> int:
        """Forget earlier utterances whose text is known; returns the number of bytes forgotten."""
        size = self._earlier
        self._cut(size)
        self.append(b"")  # with nothing kept, only the pre-roll remains
        return size

    def copy(self) -> Segment:
        """The utterance so far, as `close` would return it."""
        return Segment(
            pcm=bytes(self._pcm),
            sample_rate=self._sample_rate,
            dropped=self._dropped / (BYTES_PER_SAMPLE * self._sample_rate),
        )

    def clear(self) -> None:
        """Forget all audio, including that of an open utterance."""
        self._pcm.clear()
        self._is_open = False
        self._ended = self._earlier = self._dropped = 0

    def _cut(self, size: int) -> None:
        del self._pcm[:size]
        self._ended, self._earlier = max(0, self._ended - size), max(0, self._earlier - size)

    def _size(self, seconds: float) -> int:
        return round(seconds * self._sample_rate) * BYTES_PER_SAMPLE
