"""Numbers as slots of templates."""

import random

from voice.language.english.number_words import SIGNED, numbers_and, parse_number
from voice.language.english.numbers import cardinal
from voice.responder.language.grammar import SlotKind


def sample_number(rng: random.Random) -> str:
    """A number as people use it in small sums: mostly below 100, sometimes a round number, hundreds or a decimal."""
    draw = rng.random()
    if draw < 0.45:
        return cardinal(rng.randint(1, 12))
    if draw < 0.75:
        return cardinal(rng.randint(2, 99))
    if draw < 0.85:
        return cardinal(rng.choice([100, 150, 200, 250, 500, 1000, 2000, 5000, 10000]))
    if draw < 0.95:
        joint = "and " if rng.random() < 0.5 else ""
        return f"{cardinal(rng.randint(1, 9))} hundred {joint}{cardinal(rng.randint(1, 99))}"
    return f"{cardinal(rng.randint(0, 20))} point {cardinal(rng.randint(1, 9))}"


def pair_of_numbers(*joints: str) -> SlotKind:
    """A kind of slot for two numbers joined by one of `joints`, such as "and"; its value is a tuple of both numbers.

    A joint may also occur within a number ("nine and three hundred and five"), so each occurrence is tried.
    """

    def parse(text: str) -> tuple[object, object] | None:
        parts = text.split()
        splits = ((parts[:at], parts[at + 1 :]) for at, word in enumerate(parts) if word in joints)
        pairs = ((parse_number(" ".join(first)), parse_number(" ".join(second))) for first, second in splits)
        return next(((a, b) for a, b in pairs if a is not None and b is not None), None)

    def sample(rng: random.Random) -> str:
        return f"{sample_number(rng)} {joints[0]} {sample_number(rng)}"

    return SlotKind("_".join(joints), numbers_and(["and", "minus", "negative", "a", *joints]), parse, sample)


NUMBER = SlotKind("number", SIGNED, parse_number, sample_number)
