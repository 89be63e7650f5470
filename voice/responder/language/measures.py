"""Units of measure: their spoken names and exact factors. Customary units are those of the United States.

The table is ours, because pint 0.25 takes 0.7 s to import and set up, a quarter of the server's 3 s, and 5 of the 52
units differ: it counts 365.25 days in a year (so also in months and centuries), takes the survey acre, and reads
"decade" as a logarithmic unit. It also has no spoken names or plurals.
"""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: `value` of it are `value * factor + zero` base units of its quantity.

    Parameters:
        quantity: what it measures.
        singular: its name after "1".
        plural: its name after any other number.
        factor: size in base units, exact.
        zero: zero of its scale in base units; other than 0 only for temperatures.
        weight: how often generated sentences ask for it, relative to the quantity's other units.
    """

    quantity: str
    singular: str
    plural: str
    factor: Fraction
    zero: Fraction = Fraction(0)
    weight: int = 1


def to_unit(value: Fraction, start: Unit, end: Unit) -> Fraction:
    """Converts `value` from unit `start` to unit `end`; both must measure the same quantity."""
    return (value * start.factor + start.zero - end.zero) / end.factor


# Per quantity: names separated by "/" (singular, plural, further names), factor, weight.
_TABLE: dict[str, list[tuple[str, str, int]]] = {
    "length": [
        ("mile/miles", "1609.344", 9), ("foot/feet", "0.3048", 9), ("inch/inches", "0.0254", 8),
        ("yard/yards", "0.9144", 5), ("kilometer/kilometers/km/k m", "1000", 9), ("meter/meters/m", "1", 8),
        ("centimeter/centimeters/cm/c m", "0.01", 7), ("millimeter/millimeters/mm/m m", "0.001", 4),
        ("nautical mile/nautical miles", "1852", 1), ("light year/light years", "9460730472580800", 1),
    ],
    "weight": [
        ("pound/pounds/lb/lbs", "0.45359237", 9), ("ounce/ounces/oz", "0.028349523125", 8),
        ("kilogram/kilograms/kilo/kilos/kg/k g", "1", 9),
        ("gram/grams/g", "0.001", 8), ("milligram/milligrams/mg", "0.000001", 2), ("stone/stones", "6.35029318", 2),
        ("ton/tons", "907.18474", 3), ("metric ton/metric tons/tonne/tonnes", "1000", 1),
    ],
    "volume": [
        ("gallon/gallons", "3.785411784", 9), ("quart/quarts", "0.946352946", 6), ("pint/pints", "0.473176473", 6),
        ("cup/cups", "0.2365882365", 8), ("fluid ounce/fluid ounces", "0.0295735295625", 3),
        ("tablespoon/tablespoons", "0.01478676478125", 5), ("teaspoon/teaspoons", "0.00492892159375", 5),
        ("liter/liters/l", "1", 8), ("milliliter/milliliters/ml/m l", "0.001", 5),
    ],
    "time": [
        ("second/seconds", "1", 8), ("minute/minutes", "60", 9), ("hour/hours", "3600", 9), ("day/days", "86400", 9),
        ("week/weeks", "604800", 7), ("year/years", "31536000", 7), ("month/months", "2628000", 4),
        ("decade/decades", "315360000", 1), ("century/centuries", "3153600000", 1),
        ("millisecond/milliseconds", "0.001", 1),
    ],
    "speed": [
        ("mile per hour/miles per hour/miles an hour/mph/m p h", "0.44704", 5),
        ("kilometer per hour/kilometers per hour/kilometers an hour/km h", "1000/3600", 5),
        ("meter per second/meters per second/meters a second", "1", 2),
        ("knot/knots", "1852/3600", 1),
    ],
    "area": [
        ("acre/acres", "4046.8564224", 3), ("square foot/square feet", "0.09290304", 3),
        ("hectare/hectares", "10000", 1),
        ("square meter/square meters", "1", 3), ("square mile/square miles", "2589988.110336", 1),
        ("square kilometer/square kilometers", "1000000", 1), ("square inch/square inches", "0.00064516", 1),
        ("square yard/square yards", "0.83612736", 1),
    ],
}  # fmt: skip
_DEGREES = {
    "celsius": (Fraction(1), Fraction(27315, 100)),
    "fahrenheit": (Fraction(5, 9), Fraction(27315, 100) - 32 * Fraction(5, 9)),
    "kelvin": (Fraction(1), Fraction(0)),
}


def _fraction(text: str) -> Fraction:
    numerator, _, denominator = text.partition("/")
    return Fraction(numerator) / Fraction(denominator or 1)


def _read_table() -> tuple[dict[str, Unit], list[Unit]]:
    by_name: dict[str, Unit] = {}
    units: list[Unit] = []
    for quantity, rows in _TABLE.items():
        for names, factor, weight in rows:
            singular, plural, *_ = spoken = names.split("/")
            unit = Unit(quantity, singular, plural, _fraction(factor), weight=weight)
            units.append(unit)
            by_name.update(dict.fromkeys(spoken, unit))
    for scale, (factor_, zero) in _DEGREES.items():
        weight = 1 if scale == "kelvin" else 9
        unit = Unit("temperature", f"degree {scale}", f"degrees {scale}", factor_, zero, weight)
        units.append(unit)
        by_name.update(dict.fromkeys((scale, f"degree {scale}", f"degrees {scale}"), unit))
    return by_name, units


BY_NAME, UNITS = _read_table()
"""Units by each of their names, and the list of all units."""
