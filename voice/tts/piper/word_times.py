"""When each word of a clause has been spoken, from its phonemes and how long each lasts. Pure."""

from collections.abc import Callable, Collection, Sequence

import numpy as np
import numpy.typing as npt

Samples = npt.NDArray[np.int64]


def spoken_runs(
    ids: Sequence[int], lengths: Samples, *, pauses: Collection[int], pad: Collection[int]
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

    A phonemiser runs small words together ("in the") and makes several of a number. Where its runs are not the words,
    they share the clause by how many phonemes each has alone.

    Args:
        words: of the clause as they are said; one may be several spoken words ("forty five dollars"), or none.
        runs: as `spoken_runs` gives them.
        pronounce: phonemes of a word alone, in runs; asked only where the runs are not the words.
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
    """Ends of words that divide what is spoken by their weights, pauses left out."""
    spoken = sum(end - start for start, end in runs)
    total, before = max(1, sum(weights)), np.cumsum([0, *(end - start for start, end in runs)])
    ends = []
    for share in np.cumsum(weights).tolist():
        at = round(spoken * share / total)
        run = max(0, int(np.searchsorted(before, at)) - 1)
        ends.append(runs[run][0] + at - int(before[run]))
    return ends
