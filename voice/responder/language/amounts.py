"""Amounts of a unit in words: "half a mile", "twenty degrees celsius", "two and a half kilometers"."""

import random
from dataclasses import dataclass
from fractions import Fraction

from voice.language.english.number_words import SIGNED, parse_number, say_number
from voice.responder.language.grammar import SlotKind
from voice.responder.language.measures import BY_NAME, UNITS, Unit
from voice.responder.language.numbers import sample_number


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of units; `said` is the user's wording where digits would sound odd ("a mile", "half a mile")."""

    value: Fraction
    unit: Unit
    said: str | None = None


_NAME = "(?:" + "|".join(sorted(BY_NAME, key=len, reverse=True)) + ") "
_FRACTIONS = {
    "half": Fraction(1, 2),
    "quarter": Fraction(1, 4),
    "three quarters": Fraction(3, 4),
    "third": Fraction(1, 3),
}
_COUNT = (
    rf"(?:(?:one |a )?(?:half|quarter|third) (?:of )?(?:an? |the )?|three quarters of (?:an? )?|half an? |an? |the "
    rf"|{SIGNED}(?:and (?:a|one) half )?)"
)


def parse_count(words: str) -> Fraction | None:
    """The number before a unit: "ten", "a", "half a", "three quarters of a", "two and a half"; None for other words."""
    words = words.removesuffix(" a").removesuffix(" an").removesuffix(" the").removesuffix(" of")
    if words in ("a", "an", "the"):
        return Fraction(1)
    bare = words.removeprefix("a ").removeprefix("one ")
    if bare in _FRACTIONS:
        return _FRACTIONS[bare]
    for half in (" and a half", " and one half"):
        if words.endswith(half):
            whole = parse_number(words.removesuffix(half))
            return None if whole is None else whole + Fraction(1, 2)
    return parse_number(words)


def parse_amount(words: str) -> Amount | None:
    """A number and a unit, such as "half a mile" or "twenty degrees celsius"; None if it is something else."""
    parts = words.split()
    for length in (3, 2, 1):
        unit = BY_NAME.get(" ".join(parts[-length:]))
        if unit is not None and len(parts) > length:
            count = " ".join(parts[:-length])
            value = parse_count(count)
            said = {"a": "", "an": "", "the": "", "half a": "half ", "half an": "half "}.get(count)
            return None if value is None else Amount(value, unit, None if said is None else said + with_article(unit))
    return None


def say_amount(value: Fraction, unit: Unit) -> str:
    """The amount as answers give it, rounded: "16.09 kilometers", "1 mile", "68 degrees fahrenheit"."""
    number = say_number(value, places=2)
    return f"{number} {unit.singular if number == '1' else unit.plural}"


def with_article(unit: Unit) -> str:
    """The unit with its article: "a mile", "an hour"."""
    return f"{'an' if unit.singular[0] in 'aeio' or unit.singular == 'hour' else 'a'} {unit.singular}"


def sample_pair(rng: random.Random) -> dict[str, str]:
    """An amount and another unit of the same quantity; "a mile" is nearly as frequent as a number."""
    start = rng.choices(UNITS, [unit.weight for unit in UNITS])[0]
    others = [unit for unit in UNITS if unit.quantity == start.quantity and unit is not start]
    end = rng.choices(others, [unit.weight for unit in others])[0]
    draw, number = rng.random(), sample_number(rng)
    if start.quantity == "temperature":
        count, short = f"{number} ", rng.random() < 0.4
        return {
            "amount": count + (start.plural.removeprefix("degrees ") if short else start.plural),
            "end": end.plural.removeprefix("degrees ") if rng.random() < 0.8 else end.plural,
        }
    if draw < 0.4:
        return {"amount": with_article(start), "end": end.plural}
    if draw < 0.46:
        return {"amount": f"half {with_article(start)}", "end": end.plural}
    return {"amount": f"{number} {start.singular if number == 'one' else start.plural}", "end": end.plural}


UNIT = SlotKind("unit", _NAME, BY_NAME.get, lambda rng: sample_pair(rng)["end"])
AMOUNT = SlotKind("amount", rf"{_COUNT}{_NAME}", parse_amount, lambda rng: sample_pair(rng)["amount"])
