"""Silence in front is cut off while audio still comes, and every word leaves with the sample that ends it."""

import numpy as np
import pytest

from voice.tts.piper.pieces import Piece, PieceCutter, onset, samples_of, spoken_runs, word_ends

RATE = 1000


def tone(samples: int) -> np.ndarray:
    return np.full(samples, 0.5, np.float32)


def silence(samples: int) -> np.ndarray:
    return np.zeros(samples, np.float32)


def run(cutter: PieceCutter, audio: np.ndarray, size: int) -> list[Piece]:
    pieces = [piece for start in range(0, len(audio), size) for piece in cutter.feed(audio[start : start + size])]
    return [*pieces, *cutter.end()]


@pytest.mark.parametrize("size", [1, 7, 50, 10_000])
def test_the_silent_start_is_left_out_however_the_audio_comes(size: int) -> None:
    cutter = PieceCutter(RATE, lead=0.02)
    made = samples_of(run(cutter, np.concatenate([silence(203), tone(400), silence(60)]), size))
    # The block in which the tone begins counts as audible.
    assert len(made) == 20 + 3 + 400 + 60
    assert not made[:23].any()
    assert made[23:423].all()


def test_nothing_leaves_while_all_is_silent() -> None:
    cutter = PieceCutter(RATE, lead=0.02)
    assert cutter.feed(silence(500)) == []
    assert samples_of(cutter.feed(tone(100))).size == 120


def test_silence_alone_is_kept() -> None:
    assert onset(silence(300), RATE) is None
    assert len(samples_of(run(PieceCutter(RATE, lead=0.02), silence(300), 50))) == 300


@pytest.mark.parametrize("size", [1, 64, 10_000])
def test_words_leave_with_their_last_sample(size: int) -> None:
    cutter = PieceCutter(RATE, lead=0.0)
    cutter.expect(["a", "b", "c", "late"], [150, 150, 260, 999])
    words = {}
    position = 50
    for piece in run(cutter, np.concatenate([silence(50), tone(350)]), size):
        position += len(piece.samples)
        words |= dict.fromkeys(piece.words, position)
    assert words == {"a": 150, "b": 150, "c": 260, "late": 400}


def test_words_of_a_second_sentence_count_from_its_start() -> None:
    cutter = PieceCutter(RATE, lead=0.0)
    cutter.expect(["one"], [100])
    first = cutter.feed(tone(200))
    cutter.expect(["two"], [50])
    second = cutter.feed(tone(200))
    assert [(len(p.samples), p.words) for p in first + second] == [
        (100, ("one",)),
        (100, ()),
        (50, ("two",)),
        (100, ()),
        (50, ()),
    ]


def test_no_piece_is_longer_than_a_tenth_of_a_second() -> None:
    assert [len(piece.samples) for piece in run(PieceCutter(RATE, lead=0.0), tone(250), 250)] == [100, 100, 50]


PAD, START, END, SPACE, COMMA = 0, 1, 2, 3, 8
PAUSES = {START, END, SPACE, COMMA}


def never(word: str) -> list[str]:
    raise AssertionError(f"{word} need not be pronounced")


def test_runs_leave_pauses_out() -> None:
    ids = [START, PAD, 20, PAD, 21, PAD, COMMA, PAD, SPACE, PAD, 22, PAD, END]
    lengths = np.array([100, 10, 30, 1, 30, 1, 200, 10, 50, 10, 40, 1, 100])
    assert spoken_runs(ids, lengths, pauses=PAUSES, pad={PAD}) == [(110, 172), (442, 483)]


def test_a_clause_may_end_without_a_pause() -> None:
    assert spoken_runs([20, SPACE, 21], np.array([5, 5, 5]), pauses=PAUSES, pad={PAD}) == [(0, 5), (10, 15)]


def test_each_run_is_a_word() -> None:
    assert word_ends(["hello,", "there"], [(10, 20), (30, 45)], never) == [20, 45]


def test_a_number_has_several_runs() -> None:
    pronounced = {"3600": ["three", "thousand", "six", "hundred"], "seconds": ["seconds"]}
    runs = [(0, 10), (12, 20), (22, 30), (32, 40), (50, 60)]
    assert word_ends(["3600", "seconds"], runs, lambda word: pronounced[word]) == [40, 60]


def test_words_run_together_share_what_is_spoken() -> None:
    # "in the" is one run of four phonemes, "end" one of three.
    pronounced = {"in": ["in"], "the": ["ðə"], "end": ["end"]}
    assert word_ends(["in", "the", "end"], [(100, 140), (240, 270)], lambda word: pronounced[word]) == [120, 140, 270]


def test_a_word_that_nobody_can_pronounce_ends_with_the_one_before_it() -> None:
    pronounced = {"one": ["wan"], "字": [], "two": ["tuu"], "three": ["θrii"]}
    ends = word_ends(["one", "字", "two", "three"], [(0, 30), (30, 70)], lambda word: pronounced[word])
    assert ends == sorted(ends)
    assert ends[0] == ends[1]
    assert ends[-1] == 70


@pytest.mark.parametrize("words", [[], ["hm"]])
def test_where_nothing_is_spoken_words_are_over_at_once(words: list[str]) -> None:
    assert word_ends(words, [], never) == [0] * len(words)


def test_a_word_said_as_several_ends_with_the_last_of_them() -> None:
    runs = [(0, 10), (10, 20), (20, 30), (30, 40)]
    assert word_ends(["a", "b c", "d"], runs, str.split) == [10, 30, 40]
    assert word_ends(["a", "", "b c d"], runs, str.split) == [10, 10, 40]
