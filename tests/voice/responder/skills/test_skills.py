"""Tables of what is said and what comes back, for skills without state."""

import random
from datetime import datetime

import pytest

from voice.responder.dialogue import Responder
from voice.responder.skills.recital import JOKES, STORIES

NOW = datetime(2026, 11, 20, 16, 10)


def answer(text: str, seed: int = 1) -> str:
    return Responder(rng=random.Random(seed)).reply(text, NOW).text


@pytest.mark.parametrize(
    ("heard", "said"),
    [
        ("what is seven times eight", "7 times 8 is 56."),
        ("what's seven times eight", "7 times 8 is 56."),
        ("What's 7 × 8?", "7 times 8 is 56."),
        ("seven times eight", "7 times 8 is 56."),
        ("uh what is seven times ate", "7 times 8 is 56."),
        ("how much is seven time eight please", "7 times 8 is 56."),
        ("the what is seven times eight", "7 times 8 is 56."),
        ("what is seven times eight and", "7 times 8 is 56."),
        ("what is to plus too", "2 plus 2 is 4."),
        ("what is twenty percent of fifty", "20 percent of 50 is 10."),
        ("What is 20% of 50?", "20 percent of 50 is 10."),
        ("what is two plus three times four", "2 plus 3 times 4 is 14."),
        ("what is one hundred and twenty five divided by five", "125 divided by 5 is 25."),
        ("what is three minus ten", "3 minus 10 is minus 7."),
        ("what is three point five times two", "3.5 times 2 is 7."),
        ("what is ten divided by three", "10 divided by 3 is about 3.33."),
        ("what is ten divided by zero", "Dividing by zero has no answer."),
        ("i want to know what twenty five percent of two hundred is", "25 percent of 200 is 50."),
        ("what is five squared", "5 squared is 25."),
        ("what is the square root of sixteen", "The square root of 16 is 4."),
        ("what is the square root of two", "The square root of 2 is about 1.41."),
        ("what is half of ten", "Half of 10 is 5."),
        ("double eight", "Double 8 is 16."),
        ("add five and six", "5 plus 6 is 11."),
        ("add nine and three hundred and fifty five", "9 plus 355 is 364."),
        ("subtract five from twelve", "12 minus 5 is 7."),
        ("multiply six by seven", "6 times 7 is 42."),
        ("divide ten by four", "10 divided by 4 is 2.5."),
        ("what is the difference between ten and three", "10 minus 3 is 7."),
        ("what is a thousand times a thousand", "1000 times 1000 is 1,000,000."),
    ],
)
def test_arithmetic_is_right(heard: str, said: str) -> None:
    assert answer(heard) == said


@pytest.mark.parametrize(
    ("heard", "said"),
    [
        ("spell necessary", "Necessary is spelled N, E, C, E, S, S, A, R, Y."),
        ("how do you spell giraffe", "Giraffe is spelled G, I, R, A, F, F, E."),
        ("can you spell giraffe for me please", "Giraffe is spelled G, I, R, A, F, F, E."),
        ("spell the word yacht", "Yacht is spelled Y, A, C, H, T."),
        ("spell don't", "Don't is spelled D, O, N, apostrophe, T."),
        ("Spell 7.", "Seven is spelled S, E, V, E, N."),
        ("spell new york", "New york is spelled N, E, W, Y, O, R, K."),
    ],
)
def test_words_are_spelled(heard: str, said: str) -> None:
    assert answer(heard) == said


@pytest.mark.parametrize(
    ("heard", "said"),
    [
        ("count to ten", "1, 2, 3, 4, 5, 6, 7, 8, 9, 10."),
        ("count to for", "1, 2, 3, 4."),
        ("count from five to eight", "5, 6, 7, 8."),
        ("count down from five", "5, 4, 3, 2, 1."),
        ("count backwards from ten to seven", "10, 9, 8, 7."),
        ("count by fives to twenty", "5, 10, 15, 20."),
        ("count to one thousand", "I count 100 numbers at most."),
        ("repeat after me the sky is blue", "The sky is blue."),
        ("Repeat after me: I think I'm fine.", "I think I'm fine."),
        ("say hello to everybody", "Hello to everybody."),
    ],
)
def test_counting_and_repeating(heard: str, said: str) -> None:
    assert answer(heard) == said


@pytest.mark.parametrize(
    ("heard", "part"),
    [
        ("hello", "Hello"), ("hi there", "help"), ("hey", "H"), ("good morning", "Good morning"),
        ("good evening", "Good evening"),
        ("how are you", "thank you"), ("what's up", "thank you"), ("thank you very much", "welcome"),
        ("thanks", "welcome"),
        ("who are you", "I am Turnaround's embedded responder"), ("what is your name", "Turnaround"),
        ("are you a robot", "program"), ("are you human", "program"), ("nice to meet you", "Nice to meet you"),
        ("can you hear me", "Yes"), ("who made you", "open source"), ("what can you do", "tell the time"),
        ("help", "set timers"),
        ("stop", "Okay."), ("never mind", "Okay."), ("forget it", "Okay."), ("okay", "Okay."), ("sorry", "No problem"),
        ("goodbye", "Goodbye."), ("bye bye", "Goodbye."), ("good by", "Goodbye."), ("thank you goodbye", "Goodbye."),
        ("good night", "Good night"), ("you are great", "kind"),
    ],
)  # fmt: skip
def test_courtesies_are_returned(heard: str, part: str) -> None:
    assert part in answer(heard)


def test_only_a_goodbye_ends_the_call() -> None:
    assert Responder().reply("goodbye", NOW).ends_call
    assert not Responder().reply("good night", NOW).ends_call


@pytest.mark.parametrize("seed", range(8))
def test_chance_stays_within_its_bounds(seed: int) -> None:
    assert answer("flip a coin", seed) in ("It is heads.", "It is tails.")
    assert answer("roll a die", seed).split()[-1].rstrip(".") in list("123456")
    assert 1 <= int(answer("roll a twenty sided die", seed).split()[-1].rstrip(".")) <= 20
    assert 5 <= int(answer("pick a number between five and nine", seed).split()[-1].rstrip(".")) <= 9
    rolled = answer("roll two dice", seed).removeprefix("You rolled ").rstrip(".")
    first, second, total = (int(part) for part in rolled.replace(", which makes", " and").split(" and "))
    assert first + second == total


def test_the_same_seed_draws_the_same() -> None:
    for text in ("roll a die", "flip a coin", "tell me a joke", "tell me a story"):
        assert answer(text, 5) == answer(text, 5)
    assert len({answer("roll a die", seed) for seed in range(30)}) == 6


def test_stories_are_long_enough_to_interrupt_and_jokes_are_short() -> None:
    assert answer("tell me a story") in STORIES
    assert answer("tell me a joke") in JOKES
    assert all(5 <= story.count(".") <= 7 for story in STORIES)


@pytest.mark.parametrize(
    "heard",
    ["roll two and a half dice", "pick a number between nine and five", "count to two point five"],
)
def test_impossible_wishes_are_not_fulfilled_wrongly(heard: str) -> None:
    assert "language model" in answer(heard)
