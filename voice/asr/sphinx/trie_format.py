"""PocketSphinx's binary trigram file, read into arrays and written back.

PocketSphinx stores a language model as a trie in bit-packed records, keyed first by the predicted word and then by the
words before it, nearest first (its `src/lm/lm_trie.c`). The library can neither interpolate two models for one search
nor write a large one as text, so this module reads and writes the file; `ngram.py` does the statistics.
Layout of a trigram file, little-endian:

    "Trie Language Model" | order u8 | counts u32 x 3 | u32, always 1 | three tables of 65,536 float32
    | (words + 1) x (log probability f32, backoff f32, first child u32)
    | bigram records: nearest word, backoff and probability as table indexes, first child
    | trigram records: farthest word, probability as a table index
    | length of the words u32 | words, each ended by a zero byte
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]

LOG_BASE = 1.0001
"""Probabilities in the file are logarithms to this base."""

_MAGIC = b"Trie Language Model"
_TABLE = 1 << 16
_UNIGRAM = np.dtype([("prob", "<f4"), ("backoff", "<f4"), ("next", "<u4")])
_SLACK = 8  # bytes after the last record, so that a 64-bit read there stays in bounds


class TrieFormatError(ValueError):
    """The file is not a trigram model in the layout that this module reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigrams:
    """A trigram model as parallel arrays; a word is an index into `words`.

    Logarithms are natural. Bigrams are sorted by (word, before), trigrams by (bigram, before2), without duplicates.
    """

    words: tuple[str, ...]
    unigram_prob: Floats
    unigram_backoff: Floats
    bigram_word: Ints
    bigram_before: Ints
    bigram_prob: Floats
    bigram_backoff: Floats
    trigram_bigram: Ints
    """Index of the bigram that a trigram extends: (word before it, word)."""
    trigram_before2: Ints
    """The farther word: two before the predicted one."""
    trigram_prob: Floats


def read_trie(path: Path) -> Trigrams:
    """Read a trigram file.

    Raises:
        TrieFormatError: The file has another format, or is cut short.
        OSError: The file cannot be read.
    """
    data = path.read_bytes()
    at = len(_MAGIC)
    if data[:at] != _MAGIC or data[at : at + 1] != b"\x03":
        raise TrieFormatError(f"{path} is not a trigram model in PocketSphinx's binary format.")
    at += 1
    counts = [int(n) for n in np.frombuffer(data, "<u4", 3, at)]
    at += 12 + 4
    word_bits, next_bits = counts[0].bit_length(), counts[2].bit_length()
    middle_bits, longest_bits = word_bits + 32 + next_bits, word_bits + 16
    unigrams_at = at + 3 * _TABLE * 4
    middle_at = unigrams_at + (counts[0] + 1) * _UNIGRAM.itemsize
    longest_at = middle_at + _packed_size(counts[1] + 1, middle_bits)
    words_at = longest_at + _packed_size(counts[2] + 1, longest_bits)
    if len(data) < words_at + 4:
        raise TrieFormatError(f"{path} is cut short: {len(data)} bytes instead of more than {words_at}.")

    tables = np.frombuffer(data, "<f4", 3 * _TABLE, at).reshape(3, _TABLE) * np.float32(np.log(LOG_BASE))
    unigrams = np.frombuffer(data, _UNIGRAM, counts[0] + 1, unigrams_at)
    # The counts give the space, the child pointers the used part of it: six bigrams fewer in the en-us model.
    used = int(unigrams["next"][-1])
    before, backoff, prob, child = _unpack(data, middle_at, used + 1, (word_bits, 16, 16, next_bits))
    before2, prob3 = _unpack(data, longest_at, int(child[-1]), (word_bits, 16))
    words = data[words_at + 4 :].split(b"\0")[:-1]
    if len(words) != counts[0]:
        raise TrieFormatError(f"{path} lists {len(words)} words but counts {counts[0]}.")
    # Two of the en-us model's trigrams are out of order.
    bigram = _parents(child)
    order = np.argsort(bigram * counts[0] + before2, kind="stable")
    scale = np.float32(np.log(LOG_BASE))
    return Trigrams(
        words=tuple(word.decode() for word in words),
        unigram_prob=unigrams["prob"][:-1] * scale,
        unigram_backoff=unigrams["backoff"][:-1] * scale,
        bigram_word=_parents(unigrams["next"].astype(np.int64)),
        bigram_before=before[:-1],
        bigram_prob=tables[0][prob[:-1]],
        bigram_backoff=tables[1][backoff[:-1]],
        trigram_bigram=bigram,
        trigram_before2=before2[order],
        trigram_prob=tables[2][prob3[order]],
    )


def write_trie(model: Trigrams, path: Path) -> None:
    """Write `model` as a file that PocketSphinx loads; probabilities are rounded to one of 65,536 values per order.

    Raises:
        OSError: The file cannot be written.
    """
    n_words, n_bigrams, n_trigrams = len(model.words), len(model.bigram_word), len(model.trigram_bigram)
    word_bits, next_bits = n_words.bit_length(), n_trigrams.bit_length()
    unigrams = np.zeros(n_words + 1, _UNIGRAM)
    unigrams["prob"][:-1] = model.unigram_prob / np.log(LOG_BASE)
    unigrams["backoff"][:-1] = model.unigram_backoff / np.log(LOG_BASE)
    unigrams["next"] = np.searchsorted(model.bigram_word, np.arange(n_words + 1))
    child = np.searchsorted(model.trigram_bigram, np.arange(n_bigrams + 1))
    prob_table, prob = _quantise(model.bigram_prob)
    backoff_table, backoff = _quantise(model.bigram_backoff)
    prob3_table, prob3 = _quantise(model.trigram_prob)
    last = np.zeros(1, np.int64)  # the record after the last bigram only marks the end of that bigram's children
    middle = (np.append(model.bigram_before, last), np.append(backoff, last), np.append(prob, last), child)
    longest = (np.append(model.trigram_before2, last), np.append(prob3, last))
    words = b"".join(word.encode() + b"\0" for word in model.words)
    with path.open("wb") as file:
        file.write(_MAGIC + b"\x03" + np.array([n_words, n_bigrams, n_trigrams, 1], "<u4").tobytes())
        for table in (prob_table, backoff_table, prob3_table):
            file.write((table / np.log(LOG_BASE)).astype("<f4").tobytes())
        file.write(unigrams.tobytes())
        file.write(_pack(middle, (word_bits, 16, 16, next_bits)))
        file.write(_pack(longest, (word_bits, 16)))
        file.write(np.array([len(words)], "<u4").tobytes() + words)


def _packed_size(records: int, bits: int) -> int:
    return (records * bits + 7) // 8 + _SLACK


def _parents(first_child: Ints) -> Ints:
    """The index of each child's parent; a parent's children go from its `first_child` to that of the next parent."""
    return np.repeat(np.arange(len(first_child) - 1, dtype=np.int64), first_child[1:] - first_child[:-1])


def _unpack(data: bytes, at: int, records: int, widths: tuple[int, ...]) -> list[Ints]:
    """Split bit-packed records into an array for each field; lowest bits first, at most 25 bits a field."""
    total, groups = sum(widths), -(-records // 8)  # eight records end on a whole byte
    raw = np.zeros(groups * total, np.uint8)
    used = (records * total + 7) // 8
    raw[:used] = np.frombuffer(data, np.uint8, used, at)
    padded = np.pad(raw.reshape(groups, total), ((0, 0), (0, 4)))
    fields = [np.empty((groups, 8), np.int64) for _ in widths]
    for place, field, byte, shift, width in _fields(fields, widths):
        four = np.ascontiguousarray(padded[:, byte : byte + 4]).view("<u4")[:, 0]
        field[:, place] = (four >> shift) & ((1 << width) - 1)
    return [field.reshape(-1)[:records] for field in fields]


def _pack(fields: tuple[Ints, ...], widths: tuple[int, ...]) -> bytes:
    """The inverse of `_unpack`, with the slack that the reader expects after the last record."""
    records, total = len(fields[0]), sum(widths)
    groups = -(-records // 8)
    padded = np.zeros((groups, total + 4), np.uint8)
    grouped = [np.pad(field, (0, groups * 8 - records)).reshape(groups, 8) for field in fields]
    for place, field, byte, shift, _ in _fields(grouped, widths):
        four = (field[:, place].astype(np.uint64) << np.uint64(shift)).astype("<u4")
        padded[:, byte : byte + 4] |= four.view(np.uint8).reshape(groups, 4)
    return padded[:, :total].tobytes()[: (records * total + 7) // 8] + bytes(_SLACK)


def _fields(fields: list[Ints], widths: tuple[int, ...]) -> Iterator[tuple[int, Ints, int, int, int]]:
    """The position of each field of eight records: record, field, byte, bit in that byte, width in bits."""
    for place in range(8):
        bit = place * sum(widths)
        for field, width in zip(fields, widths, strict=True):
            yield place, field, bit // 8, bit % 8, width
            bit += width


def _quantise(values: Floats) -> tuple[Floats, Ints]:
    """An ascending table of 65,536 values and, for each of `values`, the index of its nearest entry.

    Evenly spaced: logarithms between the least and the greatest probability, less than 0.0005 apart.
    """
    least, greatest = (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)
    step = max(greatest - least, 1e-6) / (_TABLE - 1)
    table = (least + step * np.arange(_TABLE)).astype(np.float32)
    return table, np.rint((values.astype(np.float64) - least) / step).astype(np.int64)
