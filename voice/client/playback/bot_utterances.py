"""Finds the bot's utterances in the played audio. Pure: takes blocks with their times.

A block is loud above -45 dBFS RMS. Speech starts at a loud block if 3 of it and the next 4 are loud (a click is not an
answer); the onset is its first sample above the same level. Silences under 300 ms do not end an utterance.
"""

from collections import deque
from dataclasses import dataclass, replace

import numpy as np

from voice.client.sound.pcm import Pcm

LOUD = 10 ** (-45 / 20) * 32768
"""The least audible level of a block, or of the onset's sample (int16 units)."""

WINDOW, NEEDED = 5, 3
JOIN = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """A stretch of audible bot speech; times are seconds on the recording's clock."""

    start: float
    """First audible sample."""
    end: float
    """Just after the last audible sample so far."""
    received: float
    """Arrival of the first packet of the audio that became this utterance."""
    cut: bool = False
    """Whether an interruption cut it off."""


@dataclass(frozen=True, slots=True)
class _Block:
    at: float
    first: float
    last: float
    received: float


class UtteranceTracker:
    """Collects `utterances` from blocks of equal length, given in the order in which they are played."""

    def __init__(self) -> None:
        self.utterances: list[Utterance] = []
        self._recent: deque[_Block | None] = deque(maxlen=WINDOW)
        self._open = False

    def silence(self) -> None:
        """A block without samples was played."""
        self._recent.append(None)

    def block(self, at: float, pcm: Pcm, rate: int, received: float) -> None:
        """A block was played.

        Args:
            at: when its first sample is heard, seconds.
            pcm: its samples.
            rate: hertz.
            received: when its audio arrived, seconds.
        """
        block = _loud_block(at, pcm, rate, received)
        self._recent.append(block)
        if block is None:
            return
        loud = [recent for recent in self._recent if recent is not None]
        if len(loud) < NEEDED:
            return
        if self._open and loud[0].at - self.utterances[-1].end <= JOIN:
            self.utterances[-1] = replace(self.utterances[-1], end=block.last)
        else:
            self.utterances.append(Utterance(start=loud[0].first, end=block.last, received=loud[0].received))
            self._open = True

    def cut(self, at: float) -> None:
        """Note an interruption at `at`: later audio is a new utterance."""
        self._recent.clear()
        if self._open and at - self.utterances[-1].end <= JOIN:
            self.utterances[-1] = replace(self.utterances[-1], cut=True)
        self._open = False

    @property
    def is_audible(self) -> bool:
        """Whether the bot is audible at the last block."""
        return sum(block is not None for block in self._recent) >= NEEDED


def _loud_block(at: float, pcm: Pcm, rate: int, received: float) -> _Block | None:
    samples = pcm.astype(np.float32)
    if not len(samples) or float(np.dot(samples, samples)) <= LOUD**2 * len(samples):
        return None
    above = np.flatnonzero(np.abs(samples) > LOUD)
    return _Block(at, at + int(above[0]) / rate, at + (int(above[-1]) + 1) / rate, received)
