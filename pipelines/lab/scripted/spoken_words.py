"""Finds words of known recordings in a piece of audio by comparing exact samples, without recognition."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from latency.audio.recording import RATE

Pcm = NDArray[np.int16]

_SPAN = 32  # samples in a landmark
_ONE_IN = 6  # bits: one window in 64 is a landmark, chosen by its content, so that both sides choose the same ones
_LOUD = 200  # the least peak of a landmark; faint noise and silence repeat the same samples
_LEAST = RATE // 50  # samples that must agree around a landmark
_BASE, _MIX = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93  # odd, so that the first has an inverse modulo 2**64


@dataclass(frozen=True, slots=True)
class Word:
    """A spoken word and its times, in seconds from the beginning of its recording or audio."""

    text: str
    start: float
    end: float

    @property
    def middle(self) -> float:
        """When half of it has been spoken."""
        return (self.start + self.end) / 2


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """A recording and the words in it."""

    pcm: Pcm
    words: tuple[Word, ...]


def spread(text: str, stretches: Sequence[tuple[float, float]]) -> tuple[Word, ...]:
    """The words of `text`, distributed over the stretches of speech in proportion to their letters.

    Args:
        text: The words spoken in all the stretches together.
        stretches: Start and end of each, in seconds and in order. Every word lies within one stretch, never across the
            pause between two.
    """
    words = text.split()
    letters = np.cumsum([0, *(len(word) + 1 for word in words)])
    begun = np.cumsum([0.0, *(end - start for start, end in stretches)])  # seconds of speech before each stretch
    edges = letters / letters[-1] * begun[-1]
    placed = []
    for word, first, last in zip(words, edges, edges[1:], strict=False):
        index = int(np.searchsorted(begun[1:], (first + last) / 2))
        shift = stretches[index][0] - begun[index]
        placed.append(Word(word, float(max(first, begun[index]) + shift), float(min(last, begun[index + 1]) + shift)))
    return tuple(placed)


class SpokenWords:
    """Finds the recordings that a piece of audio consists of.

    Args:
        recordings: 16 kHz. If two share samples, the one that agrees with more of the audio is used.
    """

    def __init__(self, recordings: Iterable[Recording]) -> None:
        self._recordings = tuple(recordings)
        self._landmarks: dict[int, list[tuple[Recording, int]]] = defaultdict(list)
        for recording in self._recordings:
            for position, value in _landmarks(recording.pcm):
                self._landmarks[value].append((recording, position))

    @property
    def vocabulary(self) -> list[str]:
        """All words of the recordings, sorted."""
        return sorted({word.text for recording in self._recordings for word in recording.words})

    def heard_in(self, pcm: Pcm) -> list[Word]:
        """The words whose middle lies in the audio, with their times in it; the last one may end after the audio."""
        heard: list[Word] = []
        covered = 0
        for position, value in _landmarks(pcm):
            if position < covered or value not in self._landmarks:
                continue
            recording, at = max(self._landmarks[value], key=lambda found: _agreement(pcm, position, *found)[1])
            first, last = _agreement(pcm, position, recording, at)
            if last - first < _LEAST:
                continue
            covered = last
            shift = (position - at) / RATE
            heard += [
                Word(word.text, word.start + shift, word.end + shift)
                for word in recording.words
                if first / RATE <= word.middle + shift < last / RATE
            ]
        return heard


def _landmarks(pcm: Pcm) -> list[tuple[int, int]]:
    """Position and hash of each landmark, in order: hashes every window with a rolling hash and keeps one in 64."""
    if len(pcm) < _SPAN:
        return []
    power = np.cumprod(np.full(len(pcm), _BASE, np.uint64))
    back = np.cumprod(np.full(len(pcm), pow(_BASE, -1, 1 << 64), np.uint64))
    total = np.concatenate([np.zeros(1, np.uint64), np.cumsum(pcm.astype(np.int64).view(np.uint64) * power)])
    hashes = (total[_SPAN:] - total[:-_SPAN]) * back[: len(pcm) - _SPAN + 1] * np.uint64(_MIX)
    chosen = np.flatnonzero((hashes >> np.uint64(64 - _ONE_IN) == 0) & (hashes != 0))
    return [(int(i), int(hashes[i])) for i in chosen if np.abs(pcm[i : i + _SPAN].astype(np.int32)).max() >= _LOUD]


def _agreement(pcm: Pcm, position: int, recording: Recording, at: int) -> tuple[int, int]:
    """First and last (exclusive) sample of the audio that agree with the recording around a shared landmark."""
    known = recording.pcm
    before = min(position, at)
    after = min(len(pcm) - position, len(known) - at)
    back = _run(pcm[position - before : position][::-1], known[at - before : at][::-1])
    return position - back, position + _run(pcm[position : position + after], known[at : at + after])


def _run(left: Pcm, right: Pcm) -> int:
    """The number of samples that agree, counted from the beginning."""
    differing = np.flatnonzero(left != right)
    return int(differing[0]) if len(differing) else len(left)
