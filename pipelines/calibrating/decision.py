"""Which way of decoding is used, decided from measurements. Pure: measurements in, choice out.

`full`, greedy and on one thread is the reference: that is what Whisper was trained for. A shorter context is taken if
it is faster and its words are not worse: the errors that it makes more than the reference, utterance by utterance, as
a share of all words, are below `MARGIN` in 95 % of the resamples of the utterances (paired bootstrap, one-sided). An
option that costs time, a beam or the temperature fallback, is taken only if it makes fewer errors in 95 % of them. More
threads, which do not change the words, are taken if they save a tenth of the time.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from voice.asr.whisper.decoding import FULL, Decoding

MARGIN = 0.02
"""Share of all words by which the errors of a faster way may exceed those of the reference, at the 95 % bound."""
LEAST_WORDS, LEAST_UTTERANCES = 150, 20
"""Words and utterances below which nothing is decided."""
TOO_MANY_ERRORS = 0.5
"""Word error rate of the reference from which on its recordings and transcripts cannot belong together."""
THREADS_SAVE = 0.1
"""Share of the time that more threads must save: they take cores from other calls."""

CONTEXTS = (
    FULL,
    Decoding(context="auto", least_context=5.0),
    Decoding(context="auto"),
    Decoding(context="auto", least_context=10.0),
)
"""What is measured first; the reference is first."""

_RESAMPLES, _SEED = 10_000, 800


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One way of decoding, measured on every utterance.

    Parameters:
        decoding: how.
        errors: words inserted, dropped or mistaken, by utterance.
        seconds: wall time of the final pass, by utterance.
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
    """

    difference: float
    at_most: float


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
    return Comparison(difference=float(difference.sum() / counts.sum()), at_most=float(np.percentile(resampled, 95)))


def too_little(words: Sequence[int]) -> str | None:
    """Why utterances of so many words decide nothing; None if they can decide."""
    if len(words) >= LEAST_UTTERANCES and sum(words) >= LEAST_WORDS:
        return None
    return (
        f"{len(words)} utterances with {sum(words)} words decide nothing: at least {LEAST_UTTERANCES} utterances with "
        f"{LEAST_WORDS} words are needed"
    )


def choose(measured: Sequence[Measurement], words: Sequence[int]) -> Decoding:
    """The way of decoding to use, of those that have been measured.

    Args:
        measured: the reference first; options and threads need to be measured only with the context that is taken.
        words: how many words each utterance has.
    """
    reference = measured[0]
    if reference.decoding != FULL or too_little(words) or sum(reference.errors) >= TOO_MANY_ERRORS * sum(words):
        return FULL
    return _with_threads(measured, _with_option(measured, _context(measured, words), words)).decoding


def options(chosen: Decoding) -> list[Decoding]:
    """What is measured once a context has been chosen: ways that take longer and may make fewer errors."""
    return [replace(chosen, beam_size=5), replace(chosen, temperature_fallback=True)]


def thread_counts(chosen: Decoding, cores: int) -> list[Decoding]:
    """What is measured last: the choice so far, and with more threads, on a machine of so many cores."""
    counts = [threads for threads in (2, 4) if threads <= cores]
    return [chosen, *(replace(chosen, threads=threads) for threads in counts)] if counts else []


def _context(measured: Sequence[Measurement], words: Sequence[int]) -> Measurement:
    """The fastest of the contexts whose words are not worse than the reference's."""
    reference, *others = [one for one in measured if one.decoding == _only_context(one.decoding)]
    return _fastest([reference, *(one for one in others if compare(one, reference, words).at_most <= MARGIN)])


def _with_option(measured: Sequence[Measurement], taken: Measurement, words: Sequence[int]) -> Measurement:
    """The same context with the option that saves most errors, if one clearly does."""
    better = [
        one
        for one in measured
        if _only_context(one.decoding) == taken.decoding
        and one.decoding.threads == taken.decoding.threads
        and compare(one, taken, words).at_most < 0
    ]
    return min(better, key=lambda one: (sum(one.errors), one.mean_seconds), default=taken)


def _with_threads(measured: Sequence[Measurement], taken: Measurement) -> Measurement:
    """The same decoding with as many threads as make it fastest, if they save enough.

    Its time is the latest that was measured, side by side with the others': the machine may have been busier before.
    """
    beside = [one for one in measured if one.decoding == taken.decoding][-1]
    limit = (1 - THREADS_SAVE) * beside.mean_seconds
    more = [one for one in measured if one.decoding.threads > 1 and replace(one.decoding, threads=1) == taken.decoding]
    return _fastest([one for one in more if one.mean_seconds <= limit] or [taken])


def _only_context(decoding: Decoding) -> Decoding:
    return replace(FULL, context=decoding.context, least_context=decoding.least_context)


def _fastest(measured: Sequence[Measurement]) -> Measurement:
    return min(measured, key=lambda one: one.mean_seconds)
