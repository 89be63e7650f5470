from datetime import datetime

import pytest

from voice.responder.dialogue import Responder
from voice.responder.sentences import domain_sentences, is_beginning

NOW = datetime(2026, 11, 20, 16, 10)


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
def test_an_unfinished_request_is_a_beginning(text: str) -> None:
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
        "hello",
        "yes",
        "",
    ],
)
def test_whole_requests_and_other_words_are_no_beginnings(text: str) -> None:
    assert not is_beginning(text)


def test_a_generated_sentence_is_a_beginning_only_if_its_answer_asks_back() -> None:
    responder = Responder()
    begun = [text for text in set(domain_sentences()) if is_beginning(text)]
    assert begun
    assert all(responder.propose(text, NOW).reply.text.endswith("?") for text in begun)
