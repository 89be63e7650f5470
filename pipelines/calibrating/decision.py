"""Chooses a way of decoding from measurements. Pure: measurements in, choice out.

The reference is `full`, greedy and on one thread, as Whisper was trained. A short context is chosen if it is faster and
its extra errors are below `MARGIN` of all words in 95 % of the resamples of the utterances (paired bootstrap,
one-sided). A beam is chosen only if it makes fewer errors in 95 % of the resamples and its mean pass takes at most
`PATIENCE`, because every answer waits for the pass. More threads, which do not change the words, are chosen if they
save a tenth of the time.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from voice.asr.whisper.decoding import AUTO, FULL, LEAST_CONTEXT, Decoding

MARGIN = 0.02
"""Share of all words by which the errors of a faster way may exceed those of the reference, at the 95 % bound."""
LEAST_WORDS, LEAST_UTTERANCES = 150, 20
"""A decision needs at least this many words and utterances."""
PATIENCE = 0.15
"""The most seconds for the mean pass of a beam: twice those of the fastest way with tiny on two cores, and less than
the silence that ends a turn."""
POWER = 0.8
"""The chance that `Comparison.words_needed` words show that a way is no worse, if it is not."""
TOO_MANY_ERRORS = 0.5
"""A reference with this word error rate or more means that recordings and transcripts do not belong together."""
THREADS_SAVE = 0.1
"""Share of the time that more threads must save: they take cores from other calls."""

_RESAMPLES, _SEED = 10_000, 800
_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One way of decoding, measured on every utterance.

    Parameters:
        decoding: the way.
        errors: words inserted, dropped or mistaken, for each utterance.
        seconds: wall time of the final pass, for each timed utterance.
    """

    decoding: Decoding
    errors: tuple[int, ...]
    seconds: tuple[float, ...]

    @property
    def mean_seconds(self) -> float:
        """The mean time of a pass, repetitions of texts that looked wrong included."""
        return sum(self.seconds) / len(self.seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The difference between the errors of two ways of decoding, as a share of all words.

    Parameters:
        difference: the measured one; below 0 if the first way makes fewer errors.
        at_most: the bound that 5 % of the resamples exceed.
        words_needed: the number of words that show, with a chance of `POWER`, that a way without a true difference is
            no worse.
    """

    difference: float
    at_most: float
    words_needed: int


def compare(first: Measurement, second: Measurement, words: Sequence[int]) -> Comparison:
    """Compare the errors of two ways of decoding the same utterances.

    Args:
        first, second: the measurements.
        words: how many words each utterance has.
    """
    difference = np.subtract(first.errors, second.errors).astype(float)
    counts = np.asarray(words, float)
    drawn = np.random.default_rng(_SEED).integers(0, len(counts), (_RESAMPLES, len(counts)))
    resampled = difference[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    sigmas = _NORMAL.inv_cdf(0.95) + _NORMAL.inv_cdf(POWER)
    return Comparison(
        difference=float(difference.sum() / counts.sum()),
        at_most=float(np.percentile(resampled, 95)),
        # The spread shrinks with the square root of the number of words.
        words_needed=math.ceil(counts.sum() * (sigmas * float(resampled.std()) / MARGIN) ** 2),
    )


def too_little(words: Sequence[int]) -> str | None:
    """Why utterances with these numbers of words decide nothing; None if they can decide."""
    if len(words) >= LEAST_UTTERANCES and sum(words) >= LEAST_WORDS:
        return None
    return (
        f"{len(words)} utterances with {sum(words)} words decide nothing: at least {LEAST_UTTERANCES} utterances with "
        f"{LEAST_WORDS} words are needed"
    )


def ways(least_context: float = LEAST_CONTEXT) -> list[Decoding]:
    """The ways of decoding to measure; the reference is first.

    Args:
        least_context: seconds that a short context encodes at least.
    """
    short = replace(AUTO, least_context=least_context)
    return [FULL, short, replace(short, beam_size=5)]


def choose(measured: Sequence[Measurement], words: Sequence[int]) -> Decoding:
    """The way of decoding to use, among those measured on one thread.

    Args:
        measured: the reference first.
        words: how many words each utterance has.
    """
    reference, *others = measured
    plain = [one for one in others if one.decoding.beam_size == 1]
    taken = _fastest([reference, *(one for one in plain if compare(one, reference, words).at_most <= MARGIN)])
    better = [
        one
        for one in others
        if replace(one.decoding, beam_size=1) == taken.decoding
        and one.mean_seconds <= PATIENCE
        and compare(one, taken, words).at_most < 0
    ]
    return min(better, key=lambda one: (sum(one.errors), one.mean_seconds), default=taken).decoding


def undecided(measured: Sequence[Measurement], words: Sequence[int]) -> int | None:
    """How many words it takes to decide, if these do not show whether the short context is worse.

    Returns:
        None if they decide: it is no worse, or there are enough words to show that.
    """
    reference, short, *_ = measured
    found = compare(short, reference, words)
    is_decided = short.mean_seconds >= reference.mean_seconds or found.at_most <= MARGIN
    return None if is_decided or found.words_needed <= sum(words) else found.words_needed


def thread_counts(cores: int) -> list[int]:
    """The numbers of threads to compare on a machine with this many cores."""
    return [threads for threads in (1, 2, 4) if threads <= max(1, cores)]


def with_threads(measured: Sequence[Measurement]) -> Decoding:
    """The way with its fastest number of threads, if it saves enough; `measured` begins with one thread."""
    limit = (1 - THREADS_SAVE) * measured[0].mean_seconds
    return _fastest([one for one in measured[1:] if one.mean_seconds <= limit] or [measured[0]]).decoding


def _fastest(measured: Sequence[Measurement]) -> Measurement:
    return min(measured, key=lambda one: one.mean_seconds)
