from pathlib import Path

import numpy as np
import pocketsphinx
import pytest

from voice.asr.sphinx.trie_format import LOG_BASE, TrieFormatError, Trigrams, read_trie, write_trie


@pytest.fixture(scope="module")
def general_path() -> Path:
    return Path(pocketsphinx.get_model_path()) / "en-us" / "en-us.lm.bin"


@pytest.fixture(scope="module")
def general(general_path: Path) -> Trigrams:
    return read_trie(general_path)


def small_model() -> Trigrams:
    """Three words: <s> a b </s>, with the bigrams `a | <s>`, `b | a`, `</s> | b` and the trigram `b | <s> a`."""
    floats = lambda *values: np.log(np.array(values, np.float32))  # noqa: E731
    return Trigrams(
        words=("<s>", "a", "b", "</s>"),
        unigram_prob=floats(1e-9, 0.4, 0.4, 0.2),
        unigram_backoff=floats(0.5, 0.6, 0.7, 1.0),
        bigram_word=np.array([1, 2, 3]),
        bigram_before=np.array([0, 1, 2]),
        bigram_prob=floats(0.8, 0.75, 0.7),
        bigram_backoff=floats(0.3, 0.2, 1.0),
        trigram_bigram=np.array([1]),
        trigram_before2=np.array([0]),
        trigram_prob=floats(0.9),
    )


def test_pocketsphinx_reads_the_probabilities_that_were_written(tmp_path: Path) -> None:
    write_trie(small_model(), tmp_path / "small.lm.bin")
    loaded = pocketsphinx.NGramModel.readfile(str(tmp_path / "small.lm.bin"))

    def prob(*words: str) -> float:
        """Of the first word after the others, nearest first."""
        return float(LOG_BASE ** loaded.prob(list(words)))

    assert prob("a") == pytest.approx(0.4, rel=0.001)
    assert prob("b", "a") == pytest.approx(0.75, rel=0.001)
    assert prob("b", "a", "<s>") == pytest.approx(0.9, rel=0.001)
    assert prob("a", "a") == pytest.approx(0.6 * 0.4, rel=0.001)
    assert prob("</s>", "a", "<s>") == pytest.approx(0.3 * 0.6 * 0.2, rel=0.001)


def test_the_file_is_read_as_pocketsphinx_reads_it(general: Trigrams, general_path: Path) -> None:
    loaded = pocketsphinx.NGramModel.readfile(str(general_path))
    rng = np.random.default_rng(3)
    for index in rng.integers(len(general.trigram_prob), size=200):
        bigram = general.trigram_bigram[index]
        words = [
            general.words[i]
            for i in (
                general.bigram_word[bigram],
                general.bigram_before[bigram],
                general.trigram_before2[index],
            )
        ]
        assert loaded.prob(words) * np.log(LOG_BASE) == pytest.approx(general.trigram_prob[index], abs=0.001)


def test_a_large_model_survives_being_written_and_read(general: Trigrams, tmp_path: Path) -> None:
    write_trie(general, tmp_path / "copy.lm.bin")
    copy = read_trie(tmp_path / "copy.lm.bin")
    assert copy.words == general.words
    for name in ("bigram_word", "bigram_before", "trigram_bigram", "trigram_before2"):
        np.testing.assert_array_equal(getattr(copy, name), getattr(general, name))
    for name in ("unigram_prob", "unigram_backoff", "bigram_prob", "bigram_backoff", "trigram_prob"):
        np.testing.assert_allclose(getattr(copy, name), getattr(general, name), atol=0.0005)


def test_another_file_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.bin"
    other.write_bytes(b"RIFF" + bytes(100))
    with pytest.raises(TrieFormatError, match="not a trigram model"):
        read_trie(other)


def test_a_file_cut_short_is_refused(general_path: Path, tmp_path: Path) -> None:
    short = tmp_path / "short.bin"
    short.write_bytes(general_path.read_bytes()[:-4_000_000])
    with pytest.raises(TrieFormatError, match="cut short"):
        read_trie(short)
