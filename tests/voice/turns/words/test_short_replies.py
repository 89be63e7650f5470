"""Which words are lead-ins, which would answer a question, and which are only polite."""

import pytest

from voice.language.english.turns import ENGLISH
from voice.language.german.turns import GERMAN
from voice.language.turn_words import TurnWords
from voice.turns.words.short_replies import is_courtesy, lead_in


@pytest.mark.parametrize(
    "text",
    ["hello", "Hello.", "hi there", "hey", "wait", "wait a minute", "hold on", "Good morning!", "sorry", "no wait"],
)
def test_greetings_and_calls_for_attention_may_stand_alone(text: str) -> None:
    assert lead_in(text) == "greeting"


@pytest.mark.parametrize("text", ["well", "so", "um", "Okay, so,", "yes and", "one more thing", "yes,", "hello…"])
def test_joints_never_stand_alone(text: str) -> None:
    assert lead_in(text) == "joint"


@pytest.mark.parametrize("text", ["yes", "Okay.", "yes please", "right", "Yeah, sure.", "that’s right", "um yes"])
def test_words_that_would_affirm(text: str) -> None:
    assert lead_in(text) == "yes"


@pytest.mark.parametrize("text", ["no", "No, thank you.", "okay no", "nope", "no please"])
def test_words_that_would_deny(text: str) -> None:
    assert lead_in(text) == "no"


@pytest.mark.parametrize(
    "text",
    ["", "hello set a timer", "stop", "help", "goodbye", "thank you", "what time is it", "yes I would like tea"],
)
def test_other_words_are_no_lead_in(text: str) -> None:
    assert lead_in(text) is None


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Thank you.", ENGLISH, True), ("Great, thanks a lot!", ENGLISH, True), ("Okay, bye.", ENGLISH, True),
        ("Okay.", ENGLISH, False), ("Yes, please.", ENGLISH, False), ("Thanks, and what time is it?", ENGLISH, False),
        ("Vielen Dank!", GERMAN, True), ("Super, danke.", GERMAN, True), ("Ja, bitte.", GERMAN, False),
        ("", ENGLISH, False),
    ],
)  # fmt: skip
def test_thanks_and_farewells_are_courtesies(text: str, language: TurnWords, expected: bool) -> None:
    assert is_courtesy(text, language) is expected
