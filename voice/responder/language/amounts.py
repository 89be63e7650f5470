"""Units of measure and amounts of them: "half a mile", "twenty degrees celsius", "two and a half kilometers".

Factors are exact; customary units are those of the United States. The table is ours, because pint 0.25 takes 0.7 s to
import and set up, a quarter of the server's 3 s, and 5 of the 52 units differ: it counts 365.25 days in a year (so also
in months and centuries), takes the survey acre, and reads "decade" as a logarithmic unit. It also has no spoken names.
"""

import random
from dataclasses import dataclass
from fractions import Fraction

from voice.language.english.number_words import SIGNED, parse_number, say_number
from voice.language.english.units import plural
from voice.responder.language.grammar import SlotKind
from voice.responder.language.numbers import sample_number


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: `value` of it are `value * factor + zero` base units of its quantity.

    Parameters:
        quantity: what it measures.
        singular: its name after "1".
        factor: size in base units, exact.
        zero: zero of its scale in base units; other than 0 only for temperatures.
    """

    quantity: str
    singular: str
    factor: Fraction
    zero: Fraction = Fraction(0)

    @property
    def plural(self) -> str:
        """Its name after any number but 1."""
        return plural(self.singular)


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of units; `said` is the user's wording where digits would sound odd ("a mile", "half a mile")."""

    value: Fraction
    unit: Unit
    said: str | None = None


# Per quantity: names separated by "/" (besides the plural), and the factor. Rare units come last.
_TABLE: dict[str, list[tuple[str, str]]] = {
    "length": [
        ("mile", "1609.344"), ("foot", "0.3048"), ("inch", "0.0254"), ("yard", "0.9144"), ("kilometer/km/k m", "1000"),
        ("meter/m", "1"), ("centimeter/cm/c m", "0.01"), ("millimeter/mm/m m", "0.001"), ("nautical mile", "1852"),
        ("light year", "9460730472580800"),
    ],
    "weight": [
        ("pound/lb/lbs", "0.45359237"), ("ounce/oz", "0.028349523125"), ("kilogram/kilo/kilos/kg/k g", "1"),
        ("gram/g", "0.001"), ("milligram/mg", "0.000001"), ("ton", "907.18474"), ("stone", "6.35029318"),
        ("metric ton/tonne/tonnes", "1000"),
    ],
    "volume": [
        ("gallon", "3.785411784"), ("cup", "0.2365882365"), ("liter/l", "1"), ("quart", "0.946352946"),
        ("pint", "0.473176473"), ("tablespoon", "0.01478676478125"), ("teaspoon", "0.00492892159375"),
        ("milliliter/ml/m l", "0.001"), ("fluid ounce", "0.0295735295625"),
    ],
    "time": [
        ("second", "1"), ("minute", "60"), ("hour", "3600"), ("day", "86400"), ("week", "604800"),
        ("year", "31536000"), ("month", "2628000"), ("decade", "315360000"), ("century", "3153600000"),
        ("millisecond", "0.001"),
    ],
    "speed": [
        ("mile per hour/miles an hour/mph/m p h", "0.44704"),
        ("kilometer per hour/kilometers an hour/km h", "1000/3600"),
        ("meter per second/meters a second", "1"), ("knot", "1852/3600"),
    ],
    "area": [
        ("acre", "4046.8564224"), ("square foot", "0.09290304"), ("square meter", "1"),
        ("square mile", "2589988.110336"), ("hectare", "10000"), ("square kilometer", "1000000"),
        ("square inch", "0.00064516"), ("square yard", "0.83612736"),
    ],
}  # fmt: skip
_ZERO_CELSIUS = Fraction(27315, 100)
_DEGREES = {
    "celsius": (Fraction(1), _ZERO_CELSIUS),
    "fahrenheit": (Fraction(5, 9), _ZERO_CELSIUS - 32 * Fraction(5, 9)),
    "kelvin": (Fraction(1), Fraction(0)),
}


def _fraction(text: str) -> Fraction:
    above, _, below = text.partition("/")
    return Fraction(above) / Fraction(below or 1)


def _read_table() -> tuple[dict[str, Unit], list[Unit]]:
    units = {
        Unit(quantity, names.split("/")[0], _fraction(factor)): names.split("/")
        for quantity, rows in _TABLE.items()
        for names, factor in rows
    } | {
        Unit("temperature", f"degree {scale}", factor, zero): [scale, f"degree {scale}"]
        for scale, (factor, zero) in _DEGREES.items()
    }
    return {name: unit for unit, names in units.items() for name in (*names, unit.plural)}, list(units)


BY_NAME, UNITS = _read_table()
"""Units by each of their names, and the list of all units."""
_NAME = "(?:" + "|".join(sorted(BY_NAME, key=len, reverse=True)) + ") "
_FRACTIONS = {
    "half": Fraction(1, 2), "quarter": Fraction(1, 4), "three quarters": Fraction(3, 4), "third": Fraction(1, 3),
}  # fmt: skip
_COUNT = (
    rf"(?:(?:one |a )?(?:half|quarter|third) (?:of )?(?:an? |the )?|three quarters of (?:an? )?|half an? |an? |the "
    rf"|{SIGNED}(?:and (?:a|one) half )?)"
)


def to_unit(value: Fraction, start: Unit, end: Unit) -> Fraction:
    """Converts `value` from unit `start` to unit `end`; both must measure the same quantity."""
    return (value * start.factor + start.zero - end.zero) / end.factor


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
    quantity = rng.choice([*_TABLE, *_TABLE, "temperature"])
    units = [unit for unit in UNITS if unit.quantity == quantity]
    start, end = rng.sample(units if rng.random() < 0.2 else units[: max(3, len(units) // 2)], 2)
    number = sample_number(rng)
    if quantity == "temperature":
        return {"amount": f"{number} {start.plural}", "end": end.plural.removeprefix("degrees ")}
    amounts = [with_article(start), f"half {with_article(start)}", f"{number} {start.plural}"]
    return {"amount": rng.choices(amounts, [40, 6, 54])[0], "end": end.plural}


UNIT = SlotKind("unit", _NAME, BY_NAME.get, lambda rng: sample_pair(rng)["end"])
AMOUNT = SlotKind("amount", rf"{_COUNT}{_NAME}", parse_amount, lambda rng: sample_pair(rng)["amount"])
