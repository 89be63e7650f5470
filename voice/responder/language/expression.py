"""Reads and evaluates spoken sums, exactly and with the usual precedence of operators."""

import math
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from operator import add, mul, sub

from voice.language.english.number_words import CERTAIN, FIGURES, UNSIGNED, numbers_and, parse_number, say_number
from voice.responder.language.grammar import SlotKind
from voice.responder.language.numbers import sample_number


class Undefined(Exception):
    """The sum has no value; the message is the sentence to say instead."""


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


def square_root(a: Fraction) -> Fraction:
    """The square root of a; exact for perfect squares.

    Raises:
        Undefined: a is negative, or too large for a float.
    """
    if a > 10**300:
        raise Undefined("That number is too large to say.")
    if a < 0:
        raise Undefined("A negative number has no real square root.")
    exact = Fraction(math.isqrt(a.numerator), math.isqrt(a.denominator))
    return exact if exact**2 == a else Fraction(math.sqrt(a)).limit_denominator(10**12)


Operation = Callable[[Fraction, Fraction], Fraction]
# The heard words (a regular expression), their wording in answers, precedence, operation.
BINARY: list[tuple[str, str, int, Operation]] = [
    ("plus|added to|pulse", "plus", 1, add),
    ("minus|take away|less", "minus", 1, sub),
    ("times|time|multiplied by|multiplied with|multiplied bye|x", "times", 2, mul),
    ("divided by|divided bye|divided buy|divided bite|over", "divided by", 2, divide),
    ("percent of|percents of|percent off|percent tip (?:on|for|of)", "percent of", 3, lambda a, b: a * b / 100),
]
PREFIX: list[tuple[str, str, Callable[[Fraction], Fraction]]] = [
    ("the square root of|square root of|square root", "the square root of", square_root),
    ("one half of|half of|a half of|half", "half of", lambda a: a / 2),
    ("one third of|a third of|third of", "a third of", lambda a: a / 3),
    ("one quarter of|a quarter of|quarter of|one fourth of", "a quarter of", lambda a: a / 4),
    ("three quarters of", "three quarters of", lambda a: a * 3 / 4),
    ("double|twice", "double", lambda a: 2 * a),
    ("minus|negative", "minus", lambda a: -a),
]
SQUARED = "squared|square"
CURRENCIES = {"dollar": "dollars", "dollars": "dollars", "bucks": "dollars", "euro": "euros", "euros": "euros"}
_HEARD = " ".join([*(row[0] for row in BINARY), *(row[0] for row in PREFIX), SQUARED])
# The words of all operators in any order: `parse_expression` says whether they are a sum.
EXPRESSION = numbers_and(["and", "a", *CURRENCIES, *re.findall(r"[a-z]+", _HEARD)])
_NUMBER = re.compile(UNSIGNED)


@cache
def _compiled(heard: str) -> re.Pattern[str]:
    return re.compile(f"(?:{heard}) ")


class _Reader:
    """Reads one expression by precedence climbing; every method advances past what it has read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.said: list[str] = []
        """The expression read so far, in the words of an answer."""

    def take(self, heard: str, said: str) -> bool:
        found = _compiled(heard).match(self.text, self.at)
        if found:
            self.at = found.end()
            self.said.append(said)
        return found is not None

    def expression(self, least: int = 1) -> Fraction | None:
        left = self.operand()
        while left is not None:
            operators = (row for row in BINARY if row[2] >= least and self.take(row[0], row[1]))
            _, _, precedence, operation = next(operators, ("", "", 0, None))
            if operation is None:
                break
            right = self.expression(precedence + 1)
            left = None if right is None else operation(left, right)
        return left

    def operand(self) -> Fraction | None:
        for heard, said, function in PREFIX:
            if self.take(heard, said):
                inner = self.operand()
                return None if inner is None else function(inner)
        found = _NUMBER.match(self.text, self.at)
        value = parse_number(found.group()) if found else None
        if found is None or value is None:
            return None
        self.at = found.end()
        self.said.append(say_number(value))
        return value**2 if self.take(SQUARED, "squared") else value


def work_out(text: str, operation: Operation, a: Fraction, b: Fraction) -> SumResult:
    """The result of an operation with the words `text`, or the reason for having none."""
    try:
        return SumResult(text, operation(a, b))
    except Undefined as reason:
        return SumResult(text, None, str(reason))


def parse_expression(words: str) -> SumResult | None:
    """The sum in `words`; None if they are not a whole sum with at least one operation.

    The result of a sum with an amount in a currency is in that currency, too.
    """
    currencies = {CURRENCIES[word] for word in words.split() if word in CURRENCIES}
    if len(currencies) > 1 or (currencies and "percent off" in words):
        return None
    reader = _Reader("".join(word + " " for word in words.split() if word not in CURRENCIES))
    try:
        value = reader.expression()
    except Undefined as reason:
        return SumResult(words, None, str(reason))
    text = " ".join(reader.said)
    if value is None or reader.at < len(reader.text) or not re.search(r"[a-z]", text.removeprefix("minus ")):
        return None
    return SumResult(text, value, currency=next(iter(currencies), None))


def parse_bare(words: str) -> SumResult | None:
    """As `parse_expression`, for words without a question around them: one number must be spelled correctly."""
    certain = any(word in CERTAIN or FIGURES.fullmatch(word) for word in words.split())
    return parse_expression(words) if certain else None


def sample_expression(rng: random.Random) -> str:
    """A typical spoken sum."""
    a, b = sample_number(rng), sample_number(rng)
    said = rng.choice(("plus", "plus", "minus", "minus", "times", "times", "times", "divided by", "divided by"))
    part = rng.choice(("half of", "half of", "double", "twice", "a third of", "a quarter of", "three quarters of"))
    shapes = {
        f"{a} {said} {b}": 60,
        f"{a} percent of {b}": 14,
        f"{a} percent of {b} dollars": 3,
        f"{a} percent tip on {b} dollars": 2,
        f"{a} {said} {b} {rng.choice(('plus', 'minus', 'times'))} {sample_number(rng)}": 5,
        f"{a} squared": 5,
        f"the square root of {a}": 5,
        f"{part} {b}": 9,
    }
    return rng.choices(list(shapes), list(shapes.values()))[0]


SUM = SlotKind("sum", EXPRESSION, parse_expression, sample_expression)
BARE = SlotKind("bare", EXPRESSION, parse_bare, sample_expression)
