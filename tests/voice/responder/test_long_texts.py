"""Texts of any length and of any words are read at once: other calls wait meanwhile."""

import itertools
import time
from datetime import datetime

import pytest

from voice.responder.dialogue import NOT_UNDERSTOOD, Responder
from voice.responder.language.candidates import MOST_WORDS
from voice.responder.matching import is_whole_request

NOW = datetime(2026, 5, 4, 12, 0).astimezone()
WORDS = ["one", "to", "and", "minus", "a", "half", "minutes", "hundred", "point", "power", "the", "at", "march"]


@pytest.mark.parametrize(
    "begin", ["", "what is ", "set a timer for ", "count to ", "divide ", "remind me to ", "add ", "split "]
)
def test_no_text_takes_exponential_time(begin: str) -> None:
    """With two alternatives for one word, a pattern would try 2^40 ways to read 40 of them."""
    began = time.process_time()
    for one, other in itertools.product(WORDS, WORDS):
        text = " ".join((begin + f"{one} {other} " * MOST_WORDS).split()[:MOST_WORDS])
        Responder().propose(text, NOW)
    assert time.process_time() - began < 60


@pytest.mark.parametrize("text", ["one " * 20_000, "a" * 100_000, " " * 100_000 + "stop", "what is " * 10_000])
def test_a_text_that_is_too_long_is_no_request(text: str) -> None:
    began = time.process_time()
    proposal = Responder().propose(text, NOW)
    assert proposal.reply.intent in (NOT_UNDERSTOOD, "unheard")
    assert not is_whole_request(text)
    assert time.process_time() - began < 1
