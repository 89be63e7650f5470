"""Which way of decoding is used, decided from measurements. Pure: measurements in, choice out.

`full`, greedy and on one thread is the reference: that is what Whisper was trained for. A short context is taken if it
is faster and its words are no worse: the errors that it makes more than the reference, utterance by utterance, as a
share of all words, are below `MARGIN` in 95 % of the resamples of the utterances (paired bootstrap, one-sided). A beam
is taken only if it makes fewer errors in 95 % of the resamples and its mean pass is at most `PATIENCE`, because every
answer waits for the pass. More threads, which do not change the words, are taken if they save a tenth of the time.
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
"""Words and utterances below which nothing is decided."""
PATIENCE = 0.15
"""Seconds that the mean pass may take for fewer errors' sake: twice what the fastest way takes with tiny on two cores,
and less than the silence that ends a turn."""
POWER = 0.8
"""How likely recordings decide that a way is no worse, if it is not and there are `Comparison.words_needed` words."""
TOO_MANY_ERRORS = 0.5
"""Word error rate of the reference from which on its recordings and transcripts cannot belong together."""
THREADS_SAVE = 0.1
"""Share of the time that more threads must save: they take cores from other calls."""

_RESAMPLES, _SEED = 10_000, 800
_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One way of decoding, measured on every utterance.

    Parameters:
        decoding: how.
        errors: words inserted, dropped or mistaken, by utterance.
        seconds: wall time of the final pass, of each utterance that was timed.
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
    """The errors of one way of decoding less those of another, as a share of all words.

    Parameters:
        difference: as measured; below 0 if the first makes fewer.
        at_most: exceeded in 5 % of the resamples.
        words_needed: how many words such recordings must have to show, with a chance of `POWER`, that a way without
            any true difference is no worse.
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
        # The spread shrinks with the root of the number of words.
        words_needed=math.ceil(counts.sum() * (sigmas * float(resampled.std()) / MARGIN) ** 2),
    )


def too_little(words: Sequence[int]) -> str | None:
    """Why utterances of so many words decide nothing; None if they can decide."""
    if len(words) >= LEAST_UTTERANCES and sum(words) >= LEAST_WORDS:
        return None
    return (
        f"{len(words)} utterances with {sum(words)} words decide nothing: at least {LEAST_UTTERANCES} utterances with "
        f"{LEAST_WORDS} words are needed"
    )


def ways(least_context: float = LEAST_CONTEXT) -> list[Decoding]:
    """What is measured; the reference is first.

    Args:
        least_context: seconds that a short context encodes at least.
    """
    short = replace(AUTO, least_context=least_context)
    return [FULL, short, replace(short, beam_size=5)]


def choose(measured: Sequence[Measurement], words: Sequence[int]) -> Decoding:
    """The way of decoding to use, of those that have been measured on one thread.

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
    """How many words would decide, where these show neither that the short context is no worse nor that it is worse.

    Returns:
        None if they decide: it is no worse, or there are as many words as it takes to show that.
    """
    reference, short, *_ = measured
    found = compare(short, reference, words)
    is_decided = short.mean_seconds >= reference.mean_seconds or found.at_most <= MARGIN
    return None if is_decided or found.words_needed <= sum(words) else found.words_needed


def thread_counts(cores: int) -> list[int]:
    """The numbers of threads to compare on a machine of so many cores."""
    return [threads for threads in (1, 2, 4) if threads <= max(1, cores)]


def with_threads(measured: Sequence[Measurement]) -> Decoding:
    """The way with as many threads as make it fastest, if they save enough; `measured` begins with one thread."""
    limit = (1 - THREADS_SAVE) * measured[0].mean_seconds
    return _fastest([one for one in measured[1:] if one.mean_seconds <= limit] or [measured[0]]).decoding


def _fastest(measured: Sequence[Measurement]) -> Measurement:
    return min(measured, key=lambda one: one.mean_seconds)
