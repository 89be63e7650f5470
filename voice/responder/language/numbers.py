"""Numbers: reads spoken words and digits as exact values, and puts values into the words or digits of an answer.

Values are `Fraction`: sums and conversions stay exact, and only the answer is rounded. num2words spells numbers. Words
are read here, because of the 41 cases that the tests hold the libraries get at most 21 right (number-parser 0.3.2;
text2num 3.1 and word2number 1.1: 20): they miss decimals, years, signs, "a hundred" and misheard digits ("for").
"""

import random
import re
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from functools import cache

from num2words import num2words

from voice.responder.language.grammar import SlotKind


@cache
def spell_number(value: int) -> str:
    """A whole number from 0 in words, as a recogniser writes it: "one hundred twenty five"."""
    text: str = num2words(value)
    return text.replace("-", " ").replace(",", "").replace(" and ", " ")


PLAIN = {spell_number(value): value for value in (*range(20), *range(20, 100, 10))}
"""The single words that stand for a number below 100, correctly spelled."""
SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
# What recognisers write when they mishear a number word; read as a number only where a number is expected.
MISHEARD_DIGITS = {
    "won": 1,
    "to": 2,
    "too": 2,
    "tree": 3,
    "free": 3,
    "for": 4,
    "fore": 4,
    "fife": 5,
    "sicks": 6,
    "ate": 8,
    "wait": 8,
    "weight": 8,
    "oh": 0,
    "nought": 0,
    "naught": 0,
    "fourty": 40,
    "dozen": 12,
}

_SMALL = PLAIN | MISHEARD_DIGITS
_DIGITS = r"\d+(?:\.\d+)?"
_WORDS = frozenset([*_SMALL, *SCALES, "point"])
NUMBER_WORD = "(?:" + "|".join([_DIGITS, *sorted(_WORDS, key=len, reverse=True)]) + ") "
_A_SCALE = rf"an? (?={'|'.join([*SCALES, 'dozen'])})"
UNSIGNED = rf"(?:(?:{_A_SCALE})?{NUMBER_WORD}(?:(?:and )?{NUMBER_WORD})*)"
SIGNED = rf"(?:(?:minus |negative )?{UNSIGNED})"
DIGIT_FIGURES = re.compile(_DIGITS)
# Correct spellings only: they alone show that a phrase is a number; "to" or "for" may be just that word.
CERTAIN = frozenset(PLAIN) | frozenset(SCALES)


def numbers_and(words: Iterable[str]) -> str:
    """Regular expression of one or more words, each followed by one space: those of numbers, and `words`.

    Every word is one alternative, so that a long text which does not match in the end takes linear time to say so.
    """
    return "(?:(?:" + "|".join([_DIGITS, *sorted({*_WORDS, *words}, key=len, reverse=True)]) + ") )+"


def parse_number(text: str) -> Fraction | None:
    """The value of "one hundred and twenty five", "minus three point five" or "1.5 million"; None if not a number."""
    parts = text.split()
    sign = 1
    if parts and parts[0] in ("minus", "negative"):
        sign, parts = -1, parts[1:]
    scale = Fraction(1)
    while len(parts) > 1 and parts[-1] in SCALES and "point" in parts:
        scale *= SCALES[parts.pop()]
    whole, _, decimals = " ".join(parts).partition("point")
    decimal = "point" in parts
    value = _with_decimals(whole.split(), decimals.split()) if decimal else _whole(whole.split())
    return None if value is None else sign * scale * value


def _with_decimals(whole: list[str], decimals: list[str]) -> Fraction | None:
    """Reads "three" and "one four" as 3.14; the whole part may be empty ("point five")."""
    value = _whole(whole) if whole else Fraction(0)
    digits = ""
    for word in decimals:
        digit = int(word) if word.isdigit() else _SMALL.get(word)
        if digit is None:
            return None
        digits += str(digit)
    if value is None or not digits:
        return None
    return value + Fraction(int(digits), 10 ** len(digits))


def _whole(parts: list[str]) -> Fraction | None:
    """Reads a number without "point": groups below a thousand, each with its scale, the largest scale first."""
    total = Fraction(0)
    group: Fraction | None = None
    last_scale: int | None = None
    parts = [word for i, word in enumerate(parts) if word != "and" or i in (0, len(parts) - 1)]
    if parts[:1] in (["a"], ["an"]) and len(parts) > 1:
        parts = ["one", *parts[1:]]
    for word in parts:
        if word in SCALES and word != "hundred" or word == "dozen" and group is not None:
            scale = SCALES.get(word, 12)
            if last_scale is not None and scale >= last_scale:
                return None
            total += (Fraction(1) if group is None else group) * scale
            group, last_scale = None, scale
        elif word == "hundred":
            if group is not None and not 0 < group < 100:
                return None
            group = (Fraction(1) if group is None else group) * 100
        else:
            group = _append(group, word)
            if group is None:
                return None
    if last_scale is not None and group is not None and group >= last_scale:
        return None
    return total + (group or 0) if parts else None


def _append(group: Fraction | None, word: str) -> Fraction | None:
    """The group followed by one more small number, or None where no number may follow."""
    if not DIGIT_FIGURES.fullmatch(word) and word not in _SMALL:
        return None
    value = Fraction(_SMALL.get(word, word))
    if group is None:
        return value
    if group.denominator > 1 or group == 0:
        return None
    if group % 100 == 0 and 0 < value < 100 or group % 10 == 0 and group % 100 >= 20 and 0 < value < 10:
        return group + value
    # A year or a pair: "nineteen eighty four".
    if 10 <= group < 100 and group % 10 != 0 and 10 <= value < 100 or group == 20 and 10 <= value < 100:
        return group * 100 + value
    return None


def is_exact(value: Fraction) -> bool:
    """Whether `say_number` gives the value without rounding."""
    return abs(value) < 10**15 and (value * 10**4).denominator == 1


def say_number(value: Fraction, *, places: int = 4) -> str:
    """The value in digits, as answers give it: "56", "3.5", "86,400"; rounded to 2 places, below 1 to 3 digits.

    Args:
        value: exact value.
        places: a value with at most this many decimals is not rounded.
    """
    sign = "minus " if value < 0 else ""
    size = abs(value)
    if size >= 10**15 or 0 < size < Fraction(1, 10**4):
        mantissa, exponent = f"{Decimal(size.numerator) / Decimal(size.denominator):.2e}".split("e")
        power = f"minus {exponent[1:]}" if exponent.startswith("-") else exponent.lstrip("+")
        return f"{sign}{mantissa.rstrip('0').rstrip('.')} times 10 to the power of {power}"
    if (size * 10**places).denominator > 1:
        decimals = 2
        while size * 10 ** (decimals - 2) < 1:
            decimals += 1
        size = Fraction(round(size * 10**decimals), 10**decimals)
    text = f"{Decimal(size.numerator) / Decimal(size.denominator):,f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    # Four digits are easier to read without the comma ("5280 feet").
    return sign + (text if size >= 10**4 else text.replace(",", ""))


def sample_number(rng: random.Random) -> str:
    """A number as people use it in small sums: mostly below 100, sometimes a round number, hundreds or a decimal."""
    draw = rng.random()
    if draw < 0.45:
        return spell_number(rng.randint(1, 12))
    if draw < 0.75:
        return spell_number(rng.randint(2, 99))
    if draw < 0.85:
        return spell_number(rng.choice([100, 150, 200, 250, 500, 1000, 2000, 5000, 10000]))
    if draw < 0.95:
        joint = "and " if rng.random() < 0.5 else ""
        return f"{spell_number(rng.randint(1, 9))} hundred {joint}{spell_number(rng.randint(1, 99))}"
    return f"{spell_number(rng.randint(0, 20))} point {spell_number(rng.randint(1, 9))}"


def sample_signed(rng: random.Random) -> str:
    """As `sample_number`, but some are negative."""
    return ("minus " if rng.random() < 0.04 else "") + sample_number(rng)


def pair_of_numbers(*joints: str) -> SlotKind:
    """A kind of slot for two numbers joined by one of `joints`, such as "and"; its value is a tuple of both numbers.

    A joint may also occur within a number ("nine and three hundred and five"), so each occurrence is tried.
    """

    def parse(text: str) -> tuple[Fraction, Fraction] | None:
        parts = text.split()
        for at, word in enumerate(parts):
            if word in joints:
                a, b = parse_number(" ".join(parts[:at])), parse_number(" ".join(parts[at + 1 :]))
                if a is not None and b is not None:
                    return a, b
        return None

    pattern = numbers_and(["and", "minus", "negative", "a", *joints])
    return SlotKind(
        "_".join(joints), pattern, parse, lambda rng: f"{sample_number(rng)} {joints[0]} {sample_number(rng)}"
    )


SPOKEN_NUMBER = SlotKind("number", SIGNED, parse_number, sample_signed)
