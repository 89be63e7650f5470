import re
from datetime import datetime

import pytest

from voice.responder.dialogue import FALLBACK, Responder
from voice.responder.language.numbers import spell_number
from voice.responder.language.vocabulary import COMMON_WORDS
from voice.responder.sentences import domain_sentences, is_beginning
from voice.responder.understanding import LAST_SKILLS, SKILLS

NOW = datetime(2026, 11, 20, 16, 10)


def test_there_are_several_thousand_different_sentences_the_same_every_time() -> None:
    sentences = domain_sentences()
    assert len(set(sentences)) > 5000
    domain_sentences().clear()
    assert domain_sentences() == sentences


def test_every_sentence_is_understood() -> None:
    responder = Responder()
    refused = [text for text in set(domain_sentences()) if responder.propose(text, NOW).reply.intent == FALLBACK]
    assert refused == []


def test_every_intent_occurs() -> None:
    responder = Responder()
    found = {responder.propose(text, NOW).reply.intent for text in set(domain_sentences())}
    assert found == {skill.intent for skill in [*SKILLS, *LAST_SKILLS]}


def test_sentences_are_written_as_a_recogniser_writes() -> None:
    odd = [text for text in domain_sentences() if not re.fullmatch(r"[a-z']+( [a-z']+)*", text)]
    assert odd == []


def test_numbers_and_words_to_spell_are_all_there() -> None:
    text = " ".join(domain_sentences())
    assert all(f" {spell_number(number)} " in text for number in range(1, 101))
    assert len(COMMON_WORDS) >= 400
    assert set(COMMON_WORDS) <= set(text.split())


def test_common_requests_outnumber_rare_ones() -> None:
    sentences = domain_sentences()
    assert sentences.count("what time is it") > 5


@pytest.mark.parametrize(
    "text",
    [
        "what is twenty percent",
        "What's 20 percent of",
        "remember that my car",
        "remember that my car is",
        "set a timer",
        "set a timer for twenty",
        "start a timer for ten",
        "what is 3.5 times",
        "say",
        "okay so could you please set a timer",
        "the",
    ],
)
def test_words_that_more_would_make_a_request_are_a_beginning(text: str) -> None:
    assert is_beginning(text)


@pytest.mark.parametrize(
    "text",
    [
        "what is twenty percent of fifty",
        "remember that my car is on level three",
        "remember that my exam is on wednesday",
        "say good",
        "what time is it",
        "he was not an ill disposed young man",
        "of fifty",
        "ten minutes",
        "half an hour",
        "",
    ],
)
def test_whole_requests_and_other_words_are_none(text: str) -> None:
    assert not is_beginning(text)


def test_sentences_that_are_expected_need_not_go_on_unless_they_are_asked_back() -> None:
    responder = Responder()
    begun = [text for text in set(domain_sentences()) if is_beginning(text)]
    assert begun
    assert all("how long" in responder.propose(text, NOW).reply.text for text in begun)
