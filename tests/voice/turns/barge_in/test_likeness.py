"""How alike misheard words are to phrases."""

import pytest

from voice.turns.barge_in.meaning import ALIKE, likeness

PHRASES = ("no", "of course", "hold on")


def test_a_phrase_is_wholly_like_itself() -> None:
    assert likeness("hold on", PHRASES) == 1


@pytest.mark.parametrize("words", ["now", "not", "what", "", "a timer for ten minutes"])
def test_other_words_and_short_ones_are_like_none(words: str) -> None:
    assert likeness(words, PHRASES) == 0


def test_words_in_the_making_are_like_the_beginning_of_a_phrase() -> None:
    assert likeness("of cou", PHRASES, begun=True) > likeness("of cou", PHRASES) >= ALIKE
    assert likeness("of the", PHRASES, begun=True) == 0
