"""Numbers: from spoken words or digits to exact values, and from values to what is said.

Values are `Fraction`, so that arithmetic and conversions are exact and rounding happens once, in the answer.
"""

import random
import re
from decimal import Decimal
from fractions import Fraction

from voice.responder.language.grammar import Kind
from voice.responder.language.vocabulary import words

_BELOW_TWENTY = words(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = words("twenty thirty forty fifty sixty seventy eighty ninety")
PLAIN = {word: value for value, word in enumerate(_BELOW_TWENTY)} | {
    word: 10 * value for value, word in enumerate(_TENS, start=2)
}
"""Words of one small number, in plain spelling."""
SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
# What recognisers write for a spoken digit; read as one only where a number stands.
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
NUMBER_WORD = "(?:" + "|".join([_DIGITS, *sorted([*_SMALL, *SCALES, "point"], key=len, reverse=True)]) + ") "
_A_SCALE = rf"an? (?={'|'.join([*SCALES, 'dozen'])})"
UNSIGNED = rf"(?:(?:{_A_SCALE})?{NUMBER_WORD}(?:(?:and )?{NUMBER_WORD})*)"
SIGNED = rf"(?:(?:minus |negative )?{UNSIGNED})"
FIGURES = re.compile(_DIGITS)
# Plain spellings only: these alone make a phrase numeric, a misheard "to" or "for" does not.
CERTAIN = frozenset(PLAIN) | frozenset(SCALES)


def parse_number(text: str) -> Fraction | None:
    """The value of "one hundred and twenty five", "minus three point five", "1.5 million"; None for what is none."""
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
    """Turn "three" and "one four" into 3.14; "point five" has no whole part."""
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
    """A number without "point": groups below a thousand, each with its scale, in falling order."""
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
    """The group with one more small number behind it, or None where speech does not put one."""
    if not FIGURES.fullmatch(word) and word not in _SMALL:
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
    """Whether `say_number` gives the value itself and not a rounded one."""
    return abs(value) < 10**15 and (value * 10**4).denominator == 1


def say_number(value: Fraction, *, places: int = 4) -> str:
    """Digits as an answer shows them: "56", "3.5", "86,400"; rounded to 2 places, small ones to 3 digits.

    Args:
        value: exact value.
        places: decimals up to which an exact value is given in full.
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
    # Four digits are read more easily without the comma ("5280 feet").
    return sign + (text if size >= 10**4 else text.replace(",", ""))


def spell_number(value: int) -> str:
    """The value in words as a recogniser writes it, 0 up to 999,999: "one hundred twenty five"."""
    if value < 20:
        return _BELOW_TWENTY[value]
    if value < 100:
        ten = _TENS[value // 10 - 2]
        return f"{ten} {spell_number(value % 10)}" if value % 10 else ten
    scale, name = (1000, "thousand") if value >= 1000 else (100, "hundred")
    head = f"{spell_number(value // scale)} {name}"
    return f"{head} {spell_number(value % scale)}" if value % scale else head


def sample_number(rng: random.Random) -> str:
    """A number as people use them in small sums: mostly below 100, sometimes round hundreds or a decimal."""
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
    """As `sample_number`, a few of them negative."""
    return ("minus " if rng.random() < 0.04 else "") + sample_number(rng)


def pair_of_numbers(*joints: str) -> Kind:
    """The kind `pair` of two numbers around one of `joints`, such as "and": its value is a tuple of both.

    A joint may also be heard within a number ("nine and three hundred and five"), so every one is tried.
    """

    def parse(text: str) -> tuple[Fraction, Fraction] | None:
        parts = text.split()
        for at, word in enumerate(parts):
            if word in joints:
                a, b = parse_number(" ".join(parts[:at])), parse_number(" ".join(parts[at + 1 :]))
                if a is not None and b is not None:
                    return a, b
        return None

    pattern = f"(?:{NUMBER_WORD}|and |minus |negative |a |{'|'.join(joint + ' ' for joint in joints)})+"
    return Kind("_".join(joints), pattern, parse, lambda rng: f"{sample_number(rng)} {joints[0]} {sample_number(rng)}")


NUMBER = Kind("number", SIGNED, parse_number, sample_signed)
