"""Each word ends where its phonemes do, also where the phonemiser's words are others."""

import numpy as np
import pytest

from voice.tts.piper.word_times import spoken_runs, word_ends

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
