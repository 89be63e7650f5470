"""Reads and evaluates spoken sums, exactly and with the usual precedence of operators."""

import math
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from operator import add, mul, sub

from voice.responder.language.grammar import SlotKind
from voice.responder.language.numbers import (
    CERTAIN,
    DIGIT_FIGURES,
    UNSIGNED,
    numbers_and,
    parse_number,
    sample_number,
    say_number,
)


class Undefined(Exception):
    """The sum has no value, or none that can be said; the message is the sentence to say instead."""


@dataclass(frozen=True, slots=True)
class SumResult:
    """A sum in words and its exact value, perhaps in a currency ("dollars"), or the sentence to say instead."""

    text: str
    value: Fraction | None
    refusal: str | None = None
    currency: str | None = None


def divide(a: Fraction, b: Fraction) -> Fraction:
    """Exact quotient.

    Raises:
        Undefined: b is zero.
    """
    if b == 0:
        raise Undefined("Dividing by zero has no answer.")
    return a / b


def digits(value: Fraction) -> int:
    """Number of bits of the numerator or denominator, the longer one; floats hold about 1000."""
    return max(abs(value.numerator), value.denominator).bit_length()


def power(a: Fraction, b: Fraction) -> Fraction:
    """Raises a to the power of b; exact where both allow it.

    Raises:
        Undefined: zero to a negative power, an imaginary result, or a result of more than about 300 digits.
    """
    if a == 0 and b < 0:
        raise Undefined("Zero to a negative power has no answer.")
    if b.denominator > 1 and a < 0:
        raise Undefined("That root of a negative number is not a real number.")
    if max(Fraction(1), abs(b)) * digits(a) > 1000:
        raise Undefined("That number is too large to say.")
    return a**b.numerator if b.denominator == 1 else Fraction(float(a) ** float(b)).limit_denominator(10**12)


def root(a: Fraction, degree: int) -> Fraction:
    """The real root of a; exact for perfect powers.

    Raises:
        Undefined: an even root of a negative number, or a result of more than about 300 digits.
    """
    if a < 0 and degree % 2 == 0:
        raise Undefined("A negative number has no real square root.")
    if digits(a) > 1000:
        raise Undefined("That number is too large to say.")
    sign = -1 if a < 0 else 1
    near = [round(abs(part) ** (1 / degree)) for part in (a.numerator, a.denominator)]
    if [part**degree for part in near] == [abs(a.numerator), a.denominator]:
        return sign * Fraction(near[0], near[1])
    return sign * Fraction(math.pow(abs(a), 1 / degree)).limit_denominator(10**12)


# Replaced before numbers are read, because "twenty to" could be "twenty two".
POWER = "(?:raised )?(?:to|two|too) the power(?: of)?|\\^"
_POWER = re.compile(rf"\b(?:{POWER}) ")
POWER_PRECEDENCE = 4
Operation = Callable[[Fraction, Fraction], Fraction]
# The heard words (a regular expression), their wording in answers, precedence, operation.
BINARY: list[tuple[str, str, int, Operation]] = [
    ("plus|added to|pulse", "plus", 1, add),
    ("minus|take away|less", "minus", 1, sub),
    ("times|time|multiplied by|multiplied with|multiplied bye|x", "times", 2, mul),
    ("divided by|divided bye|divided buy|divided bite|over", "divided by", 2, divide),
    ("percent of|percents of|percent off|percent tip (?:on|for|of)", "percent of", 3, lambda a, b: a * b / 100),
    (POWER, "to the power of", POWER_PRECEDENCE, power),
]
PREFIX_OPERATORS: list[tuple[str, str, Callable[[Fraction], Fraction]]] = [
    ("the square root of|square root of|square root", "the square root of", lambda a: root(a, 2)),
    ("the cube root of|cube root of", "the cube root of", lambda a: root(a, 3)),
    ("one half of|half of|a half of|half", "half of", lambda a: a / 2),
    ("one third of|a third of|third of", "a third of", lambda a: a / 3),
    ("one quarter of|a quarter of|quarter of|one fourth of", "a quarter of", lambda a: a / 4),
    ("three quarters of", "three quarters of", lambda a: a * 3 / 4),
    ("two thirds of", "two thirds of", lambda a: a * 2 / 3),
    ("double|twice", "double", lambda a: 2 * a),
    ("triple", "triple", lambda a: 3 * a),
    ("minus|negative", "minus", lambda a: -a),
]
POSTFIX: list[tuple[str, str, Callable[[Fraction], Fraction]]] = [
    ("squared|square", "squared", lambda a: power(a, Fraction(2))),
    ("cubed", "cubed", lambda a: power(a, Fraction(3))),
]
_HEARD = [*(row[0] for row in BINARY), *(row[0] for row in PREFIX_OPERATORS), *(row[0] for row in POSTFIX)]
CURRENCIES = {"dollar": "dollars", "dollars": "dollars", "bucks": "dollars", "euro": "euros", "euros": "euros"}
# The words of all operators in any order: `parse_expression` says whether they are a sum.
EXPRESSION = numbers_and(["and", "a", *CURRENCIES, *re.findall(r"[a-z]+", " ".join(_HEARD))])
_NUMBER = re.compile(UNSIGNED)


@cache
def _compiled(heard: str) -> re.Pattern[str]:
    return re.compile(f"(?:{heard}) ")


class _Reader:
    """Reads one expression by precedence climbing; every method advances past what it has read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def take(self, heard: str) -> bool:
        found = _compiled(heard).match(self.text, self.at)
        if found:
            self.at = found.end()
        return found is not None

    def expression(self, least: int) -> SumResult | None:
        left = self.operand()
        while left is not None:
            start = self.at
            for heard, said, precedence, operation in BINARY:
                if precedence >= least and self.take(heard):
                    # Powers group from the right, all other operators from the left.
                    right = self.expression(precedence if precedence == POWER_PRECEDENCE else precedence + 1)
                    if right is None:
                        return None
                    left = combine(f"{left.text} {said} {right.text}", operation, left, right)
                    break
            if self.at == start:
                break
        return left

    def operand(self) -> SumResult | None:
        for heard, said, function in PREFIX_OPERATORS:
            if self.take(heard):
                # Minus binds less than a power ("minus three squared"); all other prefixes take only the next number.
                inner = self.expression(POWER_PRECEDENCE) if said == "minus" else self.operand()
                return None if inner is None else combine(f"{said} {inner.text}", function, inner)
        found = _NUMBER.match(self.text, self.at)
        value = parse_number(found.group()) if found else None
        if found is None or value is None:
            return None
        self.at = found.end()
        operand = SumResult(say_number(value), value)
        for heard, said, function in POSTFIX:
            if self.take(heard):
                return combine(f"{operand.text} {said}", function, operand)
        return operand


def combine(text: str, operation: Callable[..., Fraction], *operands: SumResult) -> SumResult:
    """The result of the operation, or the first reason why there is none."""
    refusal = next((operand.refusal for operand in operands if operand.refusal), None)
    if refusal is None:
        try:
            return SumResult(text, operation(*(operand.value for operand in operands)))
        except Undefined as reason:
            refusal = str(reason)
    return SumResult(text, None, refusal)


def parse_expression(words: str) -> SumResult | None:
    """The sum in `words`; None if they are not a whole sum with at least one operation.

    The result of a sum with an amount in a currency is in that currency, too.
    """
    currencies = {CURRENCIES[word] for word in words.split() if word in CURRENCIES}
    if len(currencies) > 1 or (currencies and "percent off" in words):
        return None
    bare = "".join(word + " " for word in words.split() if word not in CURRENCIES)
    reader = _Reader(_POWER.sub("^ ", bare))
    worked = reader.expression(0)
    if worked is None or reader.at < len(reader.text) or not re.search(r"[a-z]", worked.text.removeprefix("minus ")):
        return None
    return replace(worked, currency=next(iter(currencies), None))


def parse_bare(words: str) -> SumResult | None:
    """As `parse_expression`, for words without a question around them: one number must be spelled correctly."""
    certain = any(word in CERTAIN or DIGIT_FIGURES.fullmatch(word) for word in words.split())
    return parse_expression(words) if certain else None


def sample_expression(rng: random.Random) -> str:
    """A sum as people ask for it."""
    a, b = sample_number(rng), sample_number(rng)
    said = rng.choice(["plus", "plus", "minus", "minus", "times", "times", "times", "divided by", "divided by"])
    shapes = [
        (60, f"{a} {said} {b}"),
        (14, f"{a} percent of {b}"),
        (3, f"{a} percent of {b} dollars"),
        (2, f"{a} percent tip on {b} dollars"),
        (5, f"{a} {said} {b} {rng.choice(['plus', 'minus', 'times'])} {sample_number(rng)}"),
        (5, f"{a} squared"),
        (2, f"{a} cubed"),
        (5, f"the square root of {a}"),
        (5, f"{rng.choice(['half of', 'double', 'twice', 'a third of', 'a quarter of', 'three quarters of'])} {b}"),
        (2, f"{a} to the power of {rng.choice(['two', 'three', 'four', 'ten'])}"),
    ]
    return rng.choices([shape for _, shape in shapes], [weight for weight, _ in shapes])[0]


SUM = SlotKind("sum", EXPRESSION, parse_expression, sample_expression)
BARE = SlotKind("bare", EXPRESSION, parse_bare, sample_expression)
