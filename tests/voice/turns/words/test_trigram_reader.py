"""How finished words read."""

import pytest

from voice.turns.words.trigram_reader import TrigramReader


@pytest.mark.parametrize(
    ("whole", "beginning"),
    [
        ("set a timer for ten minutes", "set a timer for"),
        ("what time is it", "what time is"),
        ("I would like to go to the station", "I would like to go to the"),
        ("Convert 10 miles to kilometers", "convert 10 miles to"),
        ("he was not an ill disposed young man", "he was not an ill disposed"),
        ("Yes.", "Yes, and then I"),
        ("That is all", "That is all,"),
    ],
)
def test_whole_sentences_read_more_finished_than_their_beginnings(whole: str, beginning: str) -> None:
    ends = TrigramReader.shared()
    finished, unfinished = ends.log_probability(whole), ends.log_probability(beginning)
    assert finished is not None
    assert unfinished is not None
    assert finished > unfinished + 0.3


def test_text_without_words_has_no_probability() -> None:
    assert TrigramReader.shared().log_probability("...") is None


def test_case_and_punctuation_make_no_difference() -> None:
    ends = TrigramReader.shared()
    assert ends.log_probability("What time is it?") == ends.log_probability("what time is it")


def test_a_filled_pause_is_no_end() -> None:
    for words in ("set a timer for ten minutes um", "is it on level, uh", "Erm."):
        assert TrigramReader.shared().log_probability(words) == pytest.approx(-3.0)
