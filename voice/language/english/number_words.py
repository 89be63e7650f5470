"""Reads spoken numbers as exact values, and writes values in digits.

Values are `Fraction`: sums and conversions stay exact, and only spoken values are rounded. Words are parsed here
because libraries get at most 21 of the tests' 41 cases right (number-parser 0.3.2; text2num 3.1 and word2number 1.1:
20): they miss decimals, years, signs, "a hundred" and misheard digits ("for").
"""

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction

from voice.language.english.numbers import cardinal

_PLAIN = {cardinal(value): value for value in (*range(20), *range(20, 100, 10))}
"""The single words that stand for a number below 100, correctly spelled."""
_SCALES = {
    "trillion": 10**12, "billion": 10**9, "million": 10**6, "thousand": 1000, "dozen": 12, "hundred": 100,
}  # fmt: skip
# What recognisers write when they mishear a number word; read as a number only where a number is expected.
_MISHEARD = {
    "won": 1, "to": 2, "too": 2, "tree": 3, "free": 3, "for": 4, "fore": 4, "fife": 5, "sicks": 6, "ate": 8, "wait": 8,
    "weight": 8, "oh": 0, "nought": 0, "naught": 0, "fourty": 40,
}  # fmt: skip
_SMALL = _PLAIN | _MISHEARD
_DIGITS = r"\d+(?:\.\d+)?"
_WORDS = frozenset([*_SMALL, *_SCALES, "point"])
_NUMBER_WORD = "(?:" + "|".join([_DIGITS, *sorted(_WORDS, key=len, reverse=True)]) + ") "
UNSIGNED = rf"(?:(?:an? (?={'|'.join(_SCALES)}))?{_NUMBER_WORD}(?:(?:and )?{_NUMBER_WORD})*)"
SIGNED = rf"(?:(?:minus |negative )?{UNSIGNED})"
FIGURES = re.compile(_DIGITS)
# Correct spellings only: they alone show that a phrase is a number; "to" or "for" may be just that word.
CERTAIN = frozenset(_PLAIN) | frozenset(_SCALES)


def numbers_and(words: Iterable[str]) -> str:
    """Regular expression of one or more words, each followed by one space: those of numbers, and `words`.

    Every word is one alternative, so that a long text without a match takes linear time.
    """
    return "(?:(?:" + "|".join([_DIGITS, *sorted({*_WORDS, *words}, key=len, reverse=True)]) + ") )+"


def parse_number(text: str) -> Fraction | None:
    """The value of "one hundred and twenty five", "minus three point five" or "1.5 million"; None if not a number."""
    parts = text.split()
    negative = parts[:1] in (["minus"], ["negative"])
    parts = parts[negative:]
    parts = [word for at, word in enumerate(parts) if word != "and" or at in (0, len(parts) - 1)]
    if parts[:1] in (["a"], ["an"]) and len(parts) > 1:
        parts[0] = "one"
    value = _with_decimals(parts) if "point" in parts else _with_scales(parts)
    return -value if value is not None and negative else value


def _with_decimals(parts: list[str]) -> Fraction | None:
    """Reads "three point one four" as 3.14; the whole part may be empty ("point five")."""
    scale = 1
    while parts[-1] in _SCALES:
        scale *= _SCALES[parts.pop()]
    at = parts.index("point")
    whole = _with_scales(parts[:at]) if at else Fraction(0)
    decimals = "".join(word if word.isdigit() else str(_SMALL.get(word, "?")) for word in parts[at + 1 :])
    return scale * (whole + Fraction(f"0.{decimals}")) if whole is not None and decimals.isdigit() else None


def _with_scales(parts: Sequence[str]) -> Fraction | None:
    """Reads a number without "point": groups below a thousand, each with its scale, the largest scale first."""
    word = next((word for word in _SCALES if word in parts), None)
    if word is None:
        return _below_hundred(parts) or _pair(parts) if parts != ["zero"] else Fraction(0)
    at, scale = parts.index(word), _SCALES[word]
    if not {"hundred"}.issuperset(_SCALES.keys() & set(parts[:at])):
        return None
    many = (_below_hundred if word == "hundred" else _with_scales)(parts[:at]) if at else Fraction(1)
    rest = _with_scales(parts[at + 1 :]) if parts[at + 1 :] else Fraction(0)
    if many is None or rest is None or rest >= scale or (word == "hundred" and not 0 < many < 100):
        return None
    return many * scale + rest


def _below_hundred(parts: Sequence[str]) -> Fraction | None:
    """Reads one number word, tens and ones ("twenty five"), or any number in figures."""
    if not all(word in _SMALL or FIGURES.fullmatch(word) for word in parts):
        return None
    values = [Fraction(_SMALL.get(word, word)) for word in parts]
    if len(values) == 2 and values[0] in range(20, 100, 10) and 0 < values[1] < 10:
        return values[0] + values[1]
    return values[0] if len(values) == 1 else None


def _pair(parts: Sequence[str]) -> Fraction | None:
    """Reads a year or a pair: "nineteen eighty four"."""
    for at in (1, 2):
        first, second = _below_hundred(parts[:at]), _below_hundred(parts[at:])
        if first and second and (first == 20 or first % 10) and min(first, second) >= 10 and max(first, second) < 100:
            return first * 100 + second
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
