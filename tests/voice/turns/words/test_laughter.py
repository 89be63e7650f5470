"""Laughter and descriptions of sounds are no words; assent and single syllables are."""

import pytest

from voice.language.german.turns import GERMAN
from voice.turns.words.laughter import is_laughter, without_laughter


@pytest.mark.parametrize(
    "text",
    ["huh huh huh", "uh huh huh huh", "ha ha", "Haha!", "He, he, he.", "la la la la", "(laughs)", "[coughs] ", "♪♪"],
)
def test_what_is_laughter(text: str) -> None:
    assert is_laughter(text)
    assert without_laughter(text) == ""
    assert without_laughter(f"what day is it today {text}") == "what day is it today"


@pytest.mark.parametrize(
    "text",
    ["", "uh huh", "uh huh, uh huh", "mm hmm", "huh?", "ha", "no no no", "five five five", "What did he say?", "aha"],
)
def test_what_is_none_and_stays_as_it_is(text: str) -> None:
    assert not is_laughter(text)
    assert without_laughter(text) == text


def test_each_language_has_its_own() -> None:
    assert is_laughter("hihi hö hö", GERMAN)
    assert not is_laughter("hö hö")
