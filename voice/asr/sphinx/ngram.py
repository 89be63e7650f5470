"""Trigram statistics of a list of sentences, and their interpolation with a general trigram model.

Linear interpolation per history: if the sentences contain a successor of the words `u v`, p(w | u v) = (1 - weight) *
general + weight * domain; after other words, only the general model counts. So a sentence outside the domain keeps its
general probability, except where it uses the domain's words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from voice.asr.sphinx.trie_format import Floats, Ints, Trigrams

Doubles = npt.NDArray[np.float64]

DISCOUNT = 0.5
"""Discount on each n-gram's count in favour of the shorter history, because sentences from patterns are repetitive."""

_BASE = 1 << 20  # an upper bound of word ids, so that two of them fit in one sortable integer
_LEAST = 1e-12  # replaces probabilities that rounding has made zero or negative


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainStatistics:
    """Statistics of the sentences, as probabilities over the word ids of the model to interpolate with."""

    words: tuple[str, ...]
    """The general model's words, then those found only in the domain."""
    unigram: Doubles
    """One probability for each of `words`."""
    bigram_keys: Ints
    """word * 2**20 + word before, sorted."""
    bigram_prob: Doubles
    left_after_one: Doubles
    """For each word as history, the share left to the unigrams; nan if no word follows it in the domain."""
    trigram_keys: tuple[Ints, Ints]
    """(word * 2**20 + word before, word two before), sorted."""
    trigram_prob: Doubles
    pair_keys: Ints
    """The two-word histories: nearest * 2**20 + farther, sorted."""
    left_after_two: Doubles
    """For each of `pair_keys`, the share left to the bigrams."""


def count_domain(sentences: Iterable[Sequence[str]], general_words: Sequence[str]) -> DomainStatistics:
    """Estimate an interpolated trigram model (absolute discounting) from sentences given as words.

    Raises:
        ValueError: There are no sentences.
    """
    ids = {word: index for index, word in enumerate(general_words)}
    unigrams: Counter[int] = Counter()
    bigrams: Counter[tuple[int, int]] = Counter()
    trigrams: Counter[tuple[int, int, int]] = Counter()
    for sentence in sentences:
        line = [ids.setdefault(word, len(ids)) for word in ("<s>", *sentence, "</s>")]
        unigrams.update(line[1:])
        bigrams.update(zip(line[1:], line, strict=False))
        trigrams.update(zip(line[2:], line[1:], line, strict=False))
    if not unigrams:
        raise ValueError("There are no sentences to make a language model of.")

    unigram = np.zeros(len(ids))
    unigram[list(unigrams)] = list(unigrams.values())
    unigram /= unigram.sum()
    word, before, count = _columns(bigrams)
    total, kinds = np.bincount(before, count, len(ids)), np.bincount(before, minlength=len(ids))
    with np.errstate(invalid="ignore"):
        left_one = DISCOUNT * kinds / total
    prob = (count - DISCOUNT) / total[before] + left_one[before] * unigram[word]
    keys = word * _BASE + before
    word3, before3, farther, count3 = _columns(trigrams)
    pairs, pair = np.unique(before3 * _BASE + farther, return_inverse=True)
    total3, kinds3 = np.bincount(pair, count3), np.bincount(pair)
    left_two = DISCOUNT * kinds3 / total3
    keys3 = word3 * _BASE + before3
    prob3 = (count3 - DISCOUNT) / total3[pair] + left_two[pair] * prob[np.searchsorted(keys, keys3)]
    return DomainStatistics(
        words=tuple(ids),
        unigram=unigram,
        bigram_keys=keys,
        bigram_prob=prob,
        left_after_one=left_one,
        trigram_keys=(keys3, farther),
        trigram_prob=prob3,
        pair_keys=pairs,
        left_after_two=left_two,
    )


def interpolate(general: Trigrams, domain: DomainStatistics, weight: float) -> Trigrams:
    """The trigram model that gives `weight` to the domain and the rest to the general model.

    Args:
        general: The model whose words begin `domain.words`.
        domain: The result of `count_domain` with the general model's words.
        weight: Above 0 and below 1.
    """
    n_words = len(domain.words)
    grown = n_words - len(general.words)
    p1g = np.pad(np.exp(general.unigram_prob.astype(np.float64)), (0, grown))
    bo1g = np.pad(np.exp(general.unigram_backoff.astype(np.float64)), (0, grown), constant_values=1.0)
    p1 = (1 - weight) * p1g + weight * domain.unigram

    general_keys = general.bigram_word * _BASE + general.bigram_before
    keys, at_general, at_domain = _merge(general_keys, domain.bigram_keys)
    word, before = keys // _BASE, keys % _BASE
    p2g = bo1g[before] * p1g[word]
    p2g[at_general] = np.exp(general.bigram_prob)
    seen = ~np.isnan(domain.left_after_one)
    p2d = np.where(seen, domain.left_after_one, 0.0)[before] * domain.unigram[word]
    p2d[at_domain] = domain.bigram_prob
    p2 = np.where(seen[before], (1 - weight) * p2g + weight * p2d, p2g)
    # The probability left by the explicit bigrams goes to the other words. It is computed exactly for the mixed
    # histories; for the rest it is kept, although the unigrams that share it have changed.
    left, among = 1 - np.bincount(before, p2, n_words), _rest(before, p1[word], n_words)
    among_general = _rest(before, p1g[word], n_words)
    bo1 = np.where(seen, left / among, bo1g * among_general / among)

    bo2 = np.ones(len(keys))
    bo2[at_general] = np.exp(general.bigram_backoff)
    trigrams = _interpolate_trigrams(
        general, domain, weight, keys=keys, at_general=at_general, general_mix=(p2g, p2d, p2, bo2), seen=seen
    )
    bigram, farther, p3, bo2 = trigrams
    return Trigrams(
        words=domain.words,
        unigram_prob=_log(p1),
        unigram_backoff=_log(bo1),
        bigram_word=word,
        bigram_before=before,
        bigram_prob=_log(p2),
        bigram_backoff=_log(bo2),
        trigram_bigram=bigram,
        trigram_before2=farther,
        trigram_prob=_log(p3),
    )


def _interpolate_trigrams(
    general: Trigrams,
    domain: DomainStatistics,
    weight: float,
    *,
    keys: Ints,
    at_general: Ints,
    general_mix: tuple[Doubles, Doubles, Doubles, Doubles],
    seen: npt.NDArray[np.bool_],
) -> tuple[Ints, Ints, Doubles, Doubles]:
    """Trigrams (bigram index, farther word, probability), and the backoffs of all bigrams of `keys` as histories."""
    p2g, p2d, p2, bo2g = general_mix
    general_at = at_general[general.trigram_bigram] * _BASE + general.trigram_before2
    domain_at = np.searchsorted(keys, domain.trigram_keys[0]) * _BASE + domain.trigram_keys[1]
    both, at_general3, at_domain3 = _merge(general_at, domain_at)
    bigram, farther = both // _BASE, both % _BASE
    nearest = keys[bigram] % _BASE
    history = nearest * _BASE + farther

    # Only histories whose nearest word is in the domain change; a history that is not a bigram backs off freely.
    touched = np.flatnonzero(seen[nearest])
    place = np.minimum(np.searchsorted(keys, history[touched]), len(keys) - 1)
    known = keys[place] == history[touched]
    touched, place = touched[known], place[known]
    pairs_at = np.searchsorted(keys, domain.pair_keys)
    pair_of_bigram = np.full(len(keys), -1)
    pair_of_bigram[pairs_at] = np.arange(len(pairs_at))
    mixed = touched[pair_of_bigram[place] >= 0]
    pair = pair_of_bigram[place][pair_of_bigram[place] >= 0]

    p3g = np.empty(len(both))
    p3g[touched] = bo2g[place] * p2g[bigram[touched]]
    p3g[at_general3] = np.exp(general.trigram_prob)
    p3d = np.zeros(len(both))
    p3d[mixed] = domain.left_after_two[pair] * p2d[bigram[mixed]]
    p3d[at_domain3] = domain.trigram_prob
    p3 = p3g.copy()
    p3[mixed] = (1 - weight) * p3g[mixed] + weight * p3d[mixed]

    size = len(keys)
    among, among_general = (_rest(place, p[bigram[touched]], size) for p in (p2, p2g))
    bo2 = bo2g * among_general / among
    bo2[pairs_at] = (1 - np.bincount(place, p3[touched], size)[pairs_at]) / among[pairs_at]
    return bigram, farther, p3, bo2


def _columns(counter: Mapping[Any, int]) -> list[Ints]:
    """The sorted n-grams of a counter, one array for each position, and their counts as the last array."""
    rows = sorted(counter.items())
    return [*np.array([gram for gram, _ in rows], np.int64).T, np.array([count for _, count in rows], np.int64)]


def _merge(first: Ints, second: Ints) -> tuple[Ints, Ints, Ints]:
    """The merged keys of two sorted arrays without duplicates, and the position of each array's keys in them.

    Fast if the second array is much shorter.
    """
    place = np.searchsorted(first, second)
    missing = second[first[np.minimum(place, len(first) - 1)] != second]
    merged: Ints = np.insert(first, np.searchsorted(first, missing), missing)
    return merged, np.arange(len(first)) + np.searchsorted(missing, first), np.searchsorted(merged, second)


def _rest(history: Ints, prob: Doubles, size: int) -> Doubles:
    """The probability left by the explicit successors, for each of `size` histories."""
    rest: Doubles = np.maximum(1 - np.bincount(history, prob, size), 1e-6)
    return rest


def _log(prob: Doubles) -> Floats:
    return np.log(np.maximum(prob, _LEAST)).astype(np.float32)
