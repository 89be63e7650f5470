from pathlib import Path

import numpy as np
import pocketsphinx
import pytest

from voice.asr.sphinx.ngram import count_domain, interpolate
from voice.asr.sphinx.trie_format import LOG_BASE, Trigrams, read_trie, write_trie

SENTENCES = [
    "what time is it",
    "what time is it",
    "what day is it",
    "set a timer for ten seconds",
    "where is my zyx",
    "set the timer",
    "what is seven times eight",
]
WEIGHT = 0.5


@pytest.fixture(scope="module")
def general() -> Trigrams:
    return read_trie(Path(pocketsphinx.get_model_path()) / "en-us" / "en-us.lm.bin")


@pytest.fixture(scope="module")
def mixed(general: Trigrams) -> Trigrams:
    return interpolate(general, count_domain((s.split() for s in SENTENCES), general.words), WEIGHT)


class Loaded:
    """A model as PocketSphinx sees it."""

    def __init__(self, path: Path) -> None:
        self._model = pocketsphinx.NGramModel.readfile(str(path))

    def prob(self, *words: str) -> float:
        """Of the last word after those before it."""
        return float(LOG_BASE ** self._model.prob(list(reversed(words))))


@pytest.fixture(scope="module")
def before() -> Loaded:
    return Loaded(Path(pocketsphinx.get_model_path()) / "en-us" / "en-us.lm.bin")


@pytest.fixture(scope="module")
def after(mixed: Trigrams, tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    path = tmp_path_factory.mktemp("model") / "mixed.lm.bin"
    write_trie(mixed, path)
    return Loaded(path)


def test_domain_statistics_are_probabilities_of_absolute_discounting() -> None:
    domain = count_domain([["a", "b"], ["a", "c"], ["a", "b"]], ["<s>", "</s>", "a", "b"])
    assert domain.words == ("<s>", "</s>", "a", "b", "c")
    assert domain.unigram.tolist() == pytest.approx([0, 3 / 9, 3 / 9, 2 / 9, 1 / 9])
    key = {"b after a": 3 * 2**20 + 2}
    b_after_a = domain.bigram_prob[np.searchsorted(domain.bigram_keys, key["b after a"])]
    # Seen twice in three; half a count of each of the two successors goes to the unigrams.
    assert b_after_a == pytest.approx((2 - 0.5) / 3 + (2 * 0.5 / 3) * (2 / 9))
    assert np.isnan(domain.left_after_one[1])  # nothing follows the end of a sentence


def test_a_model_of_no_sentences_is_refused() -> None:
    with pytest.raises(ValueError, match="no sentences"):
        count_domain([], ["a"])


def test_mixing_follows_the_formula(before: Loaded, after: Loaded) -> None:
    # "time" follows "what" in two of four sentences, "day" and "is" in one each: three kinds of successor.
    unigram = 2 / sum(len(sentence.split()) + 1 for sentence in SENTENCES)
    bigram = (2 - 0.5) / 4 + (3 * 0.5 / 4) * unigram
    trigram = (2 - 0.5) / 4 + (3 * 0.5 / 4) * bigram
    general = before.prob("<s>", "what", "time")
    expected = (1 - WEIGHT) * general + WEIGHT * trigram
    assert after.prob("<s>", "what", "time") == pytest.approx(expected, rel=0.002)


def test_expected_sentences_become_likelier(before: Loaded, after: Loaded) -> None:
    for words in (("what", "time", "is"), ("a", "timer", "for"), ("seven", "times", "eight")):
        assert after.prob(*words) > 2 * before.prob(*words)


def test_words_outside_the_sentences_keep_their_probability(before: Loaded, after: Loaded) -> None:
    for words in (("in", "the", "house"), ("president", "of", "france"), ("green", "apples", "and")):
        assert after.prob(*words) == pytest.approx(before.prob(*words), rel=0.01)


def test_a_word_that_the_general_model_lacks_is_added(mixed: Trigrams, general: Trigrams, after: Loaded) -> None:
    assert "zyx" not in general.words
    assert mixed.words == (*general.words, "zyx")
    assert after.prob("is", "my", "zyx") > 0.2


@pytest.mark.parametrize(
    "history",
    [["what"], ["timer"], ["apples"], ["<s>", "what"], ["is", "my"], ["of", "the"], ["for", "a"], ["when", "it"]],
    ids=" ".join,
)
def test_probabilities_after_any_words_add_up_to_one(mixed: Trigrams, after: Loaded, history: list[str]) -> None:
    assert sum(after.prob(*history, word) for word in mixed.words if word != "<s>") == pytest.approx(1, abs=0.005)


def test_the_arrays_are_sorted_without_duplicates(mixed: Trigrams) -> None:
    assert (np.diff(mixed.bigram_word * 2**20 + mixed.bigram_before) > 0).all()
    assert (np.diff(mixed.trigram_bigram * 2**20 + mixed.trigram_before2) > 0).all()
