"""What the agent says of its own accord is there in every language, and claims nothing."""

from dataclasses import fields
from typing import get_args

import pytest

from voice.language import NAMES, Language
from voice.language.phrases import ENGLISH, PHRASES, Phrases
from voice.llm.answer.hold_phrases import HoldPhrases, check_phrase
from voice.turns.words.by_language import TURN_WORDS
from voice.turns.words.turn_words import TurnWords

OTHERS = [language for language in get_args(Language) if language != "en"]
LISTS = ("backchannels", "stops", "never_own", "digits")


def test_every_language_has_a_name_phrases_and_words() -> None:
    assert set(NAMES) == set(PHRASES) == set(TURN_WORDS) == set(get_args(Language))
    assert all(words.code == language for language, words in TURN_WORDS.items())


@pytest.mark.parametrize("language", get_args(Language))
def test_no_phrase_is_missing_empty_or_said_twice(language: Language) -> None:
    said = list(PHRASES[language].spoken())
    assert len(set(said)) == len(said)
    assert all(text == text.strip() and text[-1] in ".?" for text in said)
    assert all(getattr(PHRASES[language], field.name) for field in fields(Phrases))


@pytest.mark.parametrize("language", OTHERS)
def test_no_phrase_was_left_in_english_and_none_lacks_an_alternative(language: Language) -> None:
    phrases = PHRASES[language]
    assert not set(phrases.spoken()) & set(ENGLISH.spoken())
    for field in fields(Phrases):
        own, english = getattr(phrases, field.name), getattr(ENGLISH, field.name)
        assert type(own) is type(english)
        assert isinstance(own, str) or len(own) == len(english), field.name


@pytest.mark.parametrize("language", get_args(Language))
def test_what_is_said_before_there_is_an_answer_claims_nothing(language: Language) -> None:
    phrases = PHRASES[language]
    for text in (*phrases.hold, *phrases.delay, *phrases.openings, *phrases.progress):
        assert check_phrase(text, language) == text
    bridging = HoldPhrases(language=language)
    assert set(bridging.phrases) == {*phrases.hold, *phrases.delay, *phrases.openings, *phrases.progress}


@pytest.mark.parametrize("language", get_args(Language))
def test_the_words_of_turns_are_there_and_in_lower_case(language: Language) -> None:
    words: TurnWords = TURN_WORDS[language]
    assert set(words.lead_ins) == {"yes", "no", "greeting", "joint"}
    lists = [getattr(words, name) for name in LISTS] + list(words.lead_ins.values())
    assert all(lists)
    assert all(word == word.lower() for one in lists for word in one)
    assert not set(words.backchannels) & set(words.stops)
