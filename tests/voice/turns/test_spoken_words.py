"""Which heard words are the agent's own."""

import pytest

from voice.turns.own_voice import REMEMBERED, SpokenWords, plain_words

WORD = 0.35
"""Seconds that a word takes."""


def speaking(text: str, *, since: float = 10.0) -> SpokenWords:
    """An agent that began to speak at `since`."""
    spoken = SpokenWords()
    for index, word in enumerate(text.split(), start=1):
        spoken.add(word, since + index * WORD)
    return spoken


# What PocketSphinx heard of answers of the embedded voice in a simulated room, at -12 dB.
GARBLED = [
    ("Today is Sunday, November 22.", "today's sunday november ninety seven"),
    ("I will remember that your car is on level three.", "remember that far is on level three"),
    ("Timer set for 20 minutes.", "timer set for ninety minutes"),
    ("There are 3,600 seconds in an hour.", "there are three thousand six hundred seconds in a hammer"),
    ("1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11", "one two three four five six seven eight nine ten eleven"),
]


@pytest.mark.parametrize(("said", "heard"), GARBLED)
def test_an_echo_is_the_agents_own_although_it_is_misheard(said: str, heard: str) -> None:
    length = len(said.split()) * WORD
    assert speaking(said).are_own(heard, 10.15, 10.3 + length)


@pytest.mark.parametrize("heard", ["what time is it", "set a timer for ten minutes", "no on level four", "goodbye"])
def test_a_request_during_an_answer_is_the_callers(heard: str) -> None:
    assert not speaking("I will remember that your car is on level three.").are_own(heard, 10.5, 12.5)


@pytest.mark.parametrize("heard", ["yes", "stop", "no", "wait", "okay", "no stop"])
def test_words_that_take_the_turn_are_the_callers_even_while_the_agent_says_them(heard: str) -> None:
    assert not speaking("Say yes, no, okay, wait or stop to stop the timer").are_own(heard, 10.2, 12.0)


@pytest.mark.parametrize("heard", ["stop", "what day is it", "no that's wrong"])
def test_unfinished_words_of_a_caller_are_told_apart_early(heard: str) -> None:
    assert speaking("I will remember that your car is on level three.").are_surely_not_own(heard, 10.5, 11.5)


@pytest.mark.parametrize("heard", ["football", "are you", "i will remember", "remembered that far is"])
def test_unfinished_words_that_may_be_a_misheard_echo_are_waited_for(heard: str) -> None:
    assert not speaking("I will remember that your car is on level three.").are_surely_not_own(heard, 10.1, 12.5)


def test_a_caller_who_repeats_the_answer_after_hearing_it_is_heard() -> None:
    spoken = speaking("Timer set for 20 minutes.")
    end = 10.0 + 5 * WORD
    assert spoken.are_own("timer set for twenty minutes", 10.1, end + 0.3), "at the time, it is an echo"
    assert not spoken.are_own("timer set for twenty minutes", end + 0.3, end + 2.0)
    assert not spoken.are_own("minutes", end + 0.3, end + 0.8)


def test_a_caller_who_talks_over_the_agents_first_words_is_heard() -> None:
    """The agent stops at once, so that few of its words are played meanwhile."""
    assert not speaking("There are").are_own("how many seconds are in a day", 10.1, 12.0)


def test_a_clause_whose_words_have_no_times_counts_around_its_own() -> None:
    spoken = SpokenWords()
    spoken.add("There are sixty minutes in an hour.", 20.0)
    assert spoken.are_own("sixty minutes in an hour", 18.5, 20.5)
    assert not spoken.are_own("sixty minutes in an hour", 25.0, 27.0)


def test_the_share_counts_letters_of_words_in_their_order() -> None:
    spoken = speaking("alpha bravo charlie")
    assert spoken.share_own("alpha bravo charlie", 10.0, 12.0) == 1.0
    assert spoken.share_own("alpha delta", 10.0, 12.0) == pytest.approx(0.5)
    assert spoken.share_own("charlie alpha", 10.0, 12.0) == pytest.approx(7 / 12)
    assert spoken.share_own("", 10.0, 12.0) == 0.0
    assert SpokenWords().share_own("alpha", 10.0, 12.0) == 0.0


def test_numbers_are_compared_as_they_are_spoken() -> None:
    assert list(plain_words("16.09 km, 3,600 o'clock")) == [
        "sixteen",
        "point",
        "zero",
        "nine",
        "km",
        "three",
        "thousand",
        "six",
        "hundred",
        "o'clock",
    ]


def test_old_words_are_forgotten() -> None:
    spoken = speaking("alpha bravo")
    spoken.add("charlie", 12.0 + REMEMBERED)
    assert spoken.share_own("alpha bravo", 10.0, 12.0) == 0.0


def test_of_two_words_one_that_the_agent_spoke_is_not_enough() -> None:
    spoken = speaking("Timer set for 20 minutes.")
    assert not spoken.are_own("and twenty", 10.5, 12.0)
    assert spoken.are_own("twenty minutes", 10.5, 12.0)


@pytest.mark.parametrize(
    ("heard", "callers"),
    [
        ("the library opens it. Can I have a coffee?", "Can I have a coffee?"),
        ("the library opens at nine what time is it", "what time is it"),
        ("library open can I have a coffee", "can I have a coffee"),
        ("Can I have a coffee at nine?", "Can I have a coffee at nine?"),
        ("the station please", "the station please"),
    ],
)
def test_the_agents_words_before_the_callers_are_left_out(heard: str, callers: str) -> None:
    spoken = speaking("The library opens at nine in the morning")
    assert spoken.without_own(heard, 10.3, 13.0) == callers


def test_a_caller_who_repeats_the_agents_words_keeps_them() -> None:
    spoken = speaking("The library opens at nine.")
    assert spoken.without_own("the library opens when", 13.0, 15.0) == "the library opens when"


def test_the_agents_unfinished_word_is_its_own() -> None:
    assert speaking("Paris is the").are_own("parris is the capital", 10.2, 11.4)
