"""Cuts a voice's audio into pieces to send: 16-bit samples, without leading silence, with words at their ends.

The length of the pieces in which a clause is synthesised is in `voice.tts.piper.streaming`.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

# A block with an RMS below this (-46 dB of full scale) is silence: the voices' noise floor lies 7 dB lower.
AUDIBLE = 0.005
LEVEL_BLOCK = 0.005
LONGEST_PIECE = 0.1
"""Seconds per piece; an interruption cannot take back a piece already sent."""

Audio = npt.NDArray[np.float32]
"""Mono samples in [-1, 1]."""
Samples = npt.NDArray[np.int16]
Lengths = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Piece:
    """Samples of a clause, and the words that end with them."""

    samples: Samples
    words: tuple[str, ...] = ()


def samples_of(pieces: Iterable[Piece]) -> Samples:
    """All samples of the pieces."""
    return np.concatenate([np.zeros(0, np.int16), *(piece.samples for piece in pieces)])


def onset(audio: Audio, sample_rate: int) -> int | None:
    """Index of the first audible block of mono samples in [-1, 1]; None without one."""
    size = round(LEVEL_BLOCK * sample_rate)
    blocks = audio[: len(audio) // size * size].reshape(-1, size)
    audible = np.flatnonzero(np.sqrt((blocks**2).mean(axis=1)) > AUDIBLE)
    return int(audible[0]) * size if len(audible) else None


def split_pause(pieces: Sequence[Piece], sample_rate: int, *, keep: float) -> tuple[list[Piece], Samples]:
    """The pieces without the silence at their end, of which `keep` seconds stay, and the rest of that silence."""
    samples = samples_of(pieces)
    reversed_onset = onset((samples[::-1] / 32768).astype(np.float32), sample_rate)
    end = len(samples) - max(0, (reversed_onset or 0) - round(keep * sample_rate))
    spoken, at = [], 0
    for piece in pieces:
        spoken.append(Piece(piece.samples[: max(0, end - at)], piece.words))
        at += len(piece.samples)
    return spoken, samples[end:]


class PieceCutter:
    """Turns the audio of one clause into pieces during synthesis.

    Args:
        sample_rate: Hz.
        lead: seconds kept before the first audible sample; Piper puts 170 to 230 ms of silence there, which would delay
            the answer.
    """

    def __init__(self, sample_rate: int, *, lead: float) -> None:
        self._rate = sample_rate
        self._lead = round(lead * sample_rate)
        self._words: deque[tuple[str, int]] = deque()
        self._held: Audio | None = np.zeros(0, np.float32)
        self._fed = 0
        self._given = 0

    def expect(self, words: Sequence[str], ends: Sequence[int]) -> None:
        """Announce the words of the audio fed next, each with the sample after its end, relative to that audio."""
        self._words.extend((word, self._fed + end) for word, end in zip(words, ends, strict=True))

    def feed(self, audio: Audio) -> list[Piece]:
        """Add audio; returns the pieces that can be sent, none while all is silent."""
        self._fed += len(audio)
        if self._held is not None:
            audio = np.concatenate([self._held, audio])
            start = onset(audio, self._rate)
            if start is None:
                self._held = audio
                return []
            self._held = None
            self._given = max(0, start - self._lead)
            audio = audio[self._given :]
        return self._cut(audio)

    def end(self) -> list[Piece]:
        """End the clause; returns audio held back, and words whose end has not been reached."""
        pieces = [] if self._held is None else self._cut(self._held)
        if self._words:
            pieces.append(Piece(np.zeros(0, np.int16), tuple(word for word, _ in self._words)))
        return pieces

    def _cut(self, audio: Audio) -> list[Piece]:
        samples: Samples = np.clip(audio * 32767, -32768, 32767).astype(np.int16)
        pieces, last = [], self._given + len(samples)
        while self._given < last:
            start, end = self._given, min(last, self._given + round(LONGEST_PIECE * self._rate))
            if self._words:
                end = max(start + 1, min(end, self._words[0][1]))
            words = []
            while self._words and self._words[0][1] <= end:
                words.append(self._words.popleft()[0])
            pieces.append(Piece(samples[len(samples) - (last - start) :][: end - start], tuple(words)))
            self._given = end
        return pieces


def spoken_runs(
    ids: Sequence[int], lengths: Lengths, *, pauses: Collection[int], pad: Collection[int]
) -> list[tuple[int, int]]:
    """First sample of each run of phonemes without a pause, and the sample after its last.

    Args:
        ids: phoneme ids of the clause.
        lengths: samples that each lasts.
        pauses: the ids of spaces, punctuation, start and end.
        pad: the id between two phonemes, which belongs to the one before it.
    """
    runs: list[tuple[int, int]] = []
    start, now = None, 0
    for phoneme, length in zip(ids, lengths.tolist(), strict=True):
        if phoneme in pauses and start is not None:
            runs.append((start, now))
            start = None
        elif phoneme not in pauses and phoneme not in pad and start is None:
            start = now
        now += length
    return [*runs, (start, now)] if start is not None else runs


def word_ends(
    words: Sequence[str], runs: Sequence[tuple[int, int]], pronounce: Callable[[str], Sequence[str]]
) -> list[int]:
    """The sample after the end of each word.

    A phonemiser joins small words ("in the") and splits a number into several. If its runs are not the words, the words
    share the clause in proportion to the phonemes that each has alone.

    Args:
        words: the spoken form of each word of the clause: one or several words ("forty five dollars"), or none.
        runs: as `spoken_runs` gives them.
        pronounce: phonemes of a single word, in runs; called only if the runs are not the words.
    """
    if not runs:
        return [0] * len(words)
    counts = weights = [1] * len(words)
    if len(words) != len(runs) or any(" " in word or not word for word in words):
        pronounced = [pronounce(word) for word in words]
        counts = [len(alone) for alone in pronounced]
        weights = [sum(map(len, alone)) for alone in pronounced]
    if sum(counts) == len(runs):
        ends = [0, *(end for _, end in runs)]
        return [ends[count] for count in np.cumsum(counts).tolist()]
    return _shared(weights, runs)


def _shared(weights: Sequence[int], runs: Sequence[tuple[int, int]]) -> list[int]:
    """Ends of words that divide the speech, without pauses, in proportion to their weights."""
    spoken = sum(end - start for start, end in runs)
    total, before = max(1, sum(weights)), np.cumsum([0, *(end - start for start, end in runs)])
    ends = []
    for share in np.cumsum(weights).tolist():
        at = round(spoken * share / total)
        run = max(0, int(np.searchsorted(before, at)) - 1)
        ends.append(runs[run][0] + at - int(before[run]))
    return ends
