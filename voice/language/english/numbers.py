"""Numbers in words, as American English says them; num2words spells them."""

from num2words import num2words

_MOST_DIGITS = 15
"""Longer numbers are read digit by digit."""
DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
FRACTIONS = {2: "half", 3: "third", 4: "quarter"}


def _plain(text: str) -> str:
    return text.replace("-", " ").replace(",", "").replace(" and ", " ")


def cardinal(value: int) -> str:
    """42 as "forty two"."""
    return _plain(num2words(value))


def ordinal(value: int) -> str:
    """22 as "twenty second"."""
    return _plain(num2words(value, to="ordinal"))


def digits(text: str) -> str:
    """Digit by digit; other characters are left out."""
    return " ".join(DIGITS[int(char)] for char in text if char in "0123456789")


def grouped(text: str) -> str:
    """A long string of digits in groups of three or four, with a pause after each."""
    groups = [text[at : at + 3] for at in range(0, len(text), 3)]
    if len(groups) > 1 and len(groups[-1]) == 1:
        groups[-2:] = [groups[-2] + groups[-1]]
    return ", ".join(digits(group) for group in groups)


def number(text: str) -> str:
    """A number as it is written: "1,250", "3.14"; one with leading zeros or very many digits is read by digit."""
    whole, _, decimals = text.replace(",", "").partition(".")
    if len(whole) > 1 and whole.startswith("0") and not decimals:
        return digits(whole)
    if len(whole) > _MOST_DIGITS:
        return grouped(whole)
    said = cardinal(int(whole)) if whole else "zero"
    return f"{said} point {digits(decimals)}" if decimals else said


def is_one(text: str) -> bool:
    """Whether the counted noun is singular."""
    return text.replace(",", "") in ("1", "1.0", "1.00")


def year(value: int) -> str:
    """1999 as "nineteen ninety nine", 2005 as "two thousand five"."""
    century, rest = divmod(value, 100)
    if not 10 <= century <= 20 or (century % 10 == 0 and rest < 10):
        return cardinal(value)
    if not rest:
        return f"{cardinal(century)} hundred"
    return f"{cardinal(century)} {'oh ' if rest < 10 else ''}{cardinal(rest)}"


def decade(value: int) -> str:
    """1990 as "nineteen nineties", 90 as "nineties", 2000 as "two thousands"."""
    said = cardinal(value) if value < 100 or value % 1000 == 0 else year(value)
    return said.removesuffix("y") + "ies" if said.endswith("y") else f"{said}s"


def fraction(above: int, below: int) -> str:
    """3/4 as "three quarters"; others than common ones as "three over forty"."""
    if not 0 < above < below <= 20 and not (below in FRACTIONS and above > 0):
        return f"{cardinal(above)} over {cardinal(below)}"
    name = FRACTIONS.get(below) or ordinal(below)
    many = "halves" if below == 2 else f"{name}s"
    return f"{cardinal(above)} {name if above == 1 else many}"
