"""Reads and says sums of money: "forty five dollars", "twelve fifty", "9 euros and 50 cents"."""

import random
from dataclasses import dataclass
from fractions import Fraction

from voice.responder.language.grammar import SlotKind
from voice.responder.language.numbers import numbers_and, parse_number, sample_number, say_number, spell_number

_CURRENCIES = {
    "dollars": "dollar", "dollar": "dollar", "bucks": "dollar", "euros": "euro", "euro": "euro", "pounds": "pound",
    "pound": "pound",
}  # fmt: skip
_SMALL = {"pound": ("penny", "pence")}
PATTERN = numbers_and([*_CURRENCIES, "cents", "cent", "pence", "and", "a"])


@dataclass(frozen=True, slots=True)
class Money:
    """A sum of money; `currency` is "dollar", "euro", "pound", or None if it was not said."""

    value: Fraction
    currency: str | None

    def but(self, value: Fraction) -> "Money":
        """Another sum in the same currency."""
        return Money(value, self.currency)


def parse_money(words: str) -> Money | None:
    """The sum that `words` name, zero or more; None for anything else."""
    parts = words.split()
    at = next((index for index, word in enumerate(parts) if word in _CURRENCIES), None)
    if at is None:
        value = parse_number(words)
        return None if value is None or value < 0 else Money(value, None)
    whole = parse_number(" ".join(parts[:at]))
    rest = [word for word in parts[at + 1 :] if word not in ("and", "cents", "cent", "pence")]
    cents = parse_number(" ".join(rest)) if rest else Fraction(0)
    if whole is None or cents is None or whole < 0 or not 0 <= cents < 100 or cents.denominator > 1:
        return None
    return Money(whole + cents / 100, _CURRENCIES[parts[at]])


def parse_named_money(words: str) -> Money | None:
    """As `parse_money`, but the currency must be said."""
    money = parse_money(words)
    return money if money and money.currency else None


def rounded(value: Fraction) -> Fraction:
    """The value in whole cents; half a cent counts as one."""
    return Fraction(int(value * 100 + Fraction(1, 2)), 100)


def say_money(money: Money) -> str:
    """The sum to the cent: "9 dollars and 50 cents", "9.50" where no currency was said."""
    cents = int(rounded(money.value) * 100)
    whole, rest = divmod(cents, 100)
    if money.currency is None:
        return say_number(Fraction(whole)) + (f".{rest:02}" if rest else "")
    one, many = _SMALL.get(money.currency, ("cent", "cents"))
    large = f"{say_number(Fraction(whole))} {money.currency}{'' if whole == 1 else 's'}"
    small = f"{rest} {one if rest == 1 else many}"
    if not rest:
        return large
    return f"{large} and {small}" if whole else small


def sample_money(rng: random.Random) -> str:
    """A bill."""
    amount = spell_number(rng.choice([15, 20, 25, 30, 35, 40, 45, 50, 60, 75, 80, 90, 100, 120]))
    return rng.choice([f"{amount} dollars", f"{amount} dollars", f"{amount} euros", sample_number(rng) + " dollars"])


MONEY = SlotKind("money", PATTERN, parse_money, sample_money)
NAMED_MONEY = SlotKind("named_money", PATTERN, parse_named_money, sample_money)
