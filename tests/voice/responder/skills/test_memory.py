from datetime import datetime

import pytest

from voice.responder.dialogue import Responder

NOW = datetime(2026, 11, 20, 16, 10)


def talk(*heard: str) -> list[str]:
    responder = Responder()
    return [responder.reply(text, NOW).text for text in heard]


@pytest.mark.parametrize(
    ("fact", "confirmed", "asked", "recalled"),
    [
        ("remember that my car is on level three", "I will remember that your car is on level three.",
         "where is my car", "Your car is on level three."),
        ("please remember my keys are on the table", "I will remember that your keys are on the table.",
         "where are my keys", "Your keys are on the table."),
        ("can you remember that the meeting is at nine", "I will remember that the meeting is at nine.",
         "when is the meeting", "The meeting is at nine."),
        ("remember that i parked on level four", "I will remember that you parked on level four.",
         "where did i park", "You parked on level four."),
        ("Remember that I'm allergic to nuts.", "I will remember that you're allergic to nuts.",
         "what am i allergic to", "You're allergic to nuts."),
        ("don't forget that my flight is on monday", "I will remember that your flight is on monday.",
         "do you remember when my flight is", "Your flight is on monday."),
        ("remember to buy milk", "I will remember to buy milk.",
         "what did i ask you to remember", "You asked me to remember to buy milk."),
        ("remember that my name is anna", "I will remember that your name is anna.",
         "what is my name", "Your name is anna."),
    ],
)  # fmt: skip
def test_a_fact_is_recalled_as_it_was_said(fact: str, confirmed: str, asked: str, recalled: str) -> None:
    assert talk(fact, asked) == [confirmed, recalled]


def test_all_facts_are_recalled_in_order() -> None:
    *_, everything = talk(
        "remember that my car is on level three", "remember that my dog is called rex", "what do you remember"
    )
    assert everything == "Your car is on level three. Your dog is called rex."


def test_a_newer_fact_about_the_same_thing_replaces_the_older() -> None:
    *_, everything = talk(
        "remember that my car is on level three", "remember that my car is on level four", "what do you remember"
    )
    assert everything == "Your car is on level four."


def test_unknown_facts_are_not_invented() -> None:
    assert talk("where is my phone", "what do you remember") == [
        "You have not told me about your phone.",
        "You have not asked me to remember anything yet.",
    ]


def test_a_question_about_something_else_is_not_answered_from_memory() -> None:
    *_, answer = talk("remember that my car is on level three", "where is the station")
    assert "language model" in answer


def test_all_facts_are_forgotten_at_once() -> None:
    answers = talk("remember that my dog is called rex", "forget everything", "what do you remember")
    assert answers[1:] == [
        "Okay, I have forgotten everything.", "You have not asked me to remember anything yet.",
    ]  # fmt: skip
