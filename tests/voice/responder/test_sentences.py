import re
from datetime import datetime

import pytest

from voice.language.english.numbers import cardinal
from voice.responder.dialogue import NOT_UNDERSTOOD, Responder
from voice.responder.sentences import domain_sentences
from voice.responder.skills import SKILLS

NOW = datetime(2026, 11, 20, 16, 10)


def test_there_are_several_thousand_different_sentences_the_same_every_time() -> None:
    sentences = domain_sentences()
    assert len(set(sentences)) > 4000
    domain_sentences().clear()
    assert domain_sentences() == sentences


@pytest.fixture(scope="module")
def intents() -> dict[str, str]:
    """The intent of the reply to each sentence; this takes seconds."""
    responder = Responder()
    return {text: responder.propose(text, NOW).reply.intent for text in set(domain_sentences())}


def test_every_sentence_is_understood(intents: dict[str, str]) -> None:
    assert [text for text, intent in intents.items() if intent == NOT_UNDERSTOOD] == []


def test_every_intent_occurs(intents: dict[str, str]) -> None:
    assert set(intents.values()) == {skill.intent for skill in SKILLS}


def test_sentences_are_written_as_a_recogniser_writes() -> None:
    word = r"(?:[a-z']+|[ap]\.m\.)"
    odd = [text for text in domain_sentences() if not re.fullmatch(rf"{word}( {word})*", text)]
    assert odd == []


def test_all_numbers_occur() -> None:
    text = " ".join(domain_sentences())
    assert all(f" {cardinal(number)} " in text for number in range(1, 101))


def test_common_requests_outnumber_rare_ones() -> None:
    sentences = domain_sentences()
    assert sentences.count("what time is it") > 5
