"""Names of units after numbers."""

import re

_PLURALS = {"foot": "feet", "inch": "inches", "century": "centuries"} | {
    name: name for name in ("hertz", "kilohertz", "megahertz", "gigahertz", "horsepower", "percent", "Grad", "Euro")
}
_HEAD = re.compile(r"\w+(?=(?: (?:per|of|squared|celsius|fahrenheit|kelvin)\b.*)?$)", re.IGNORECASE)


def plural(unit: str) -> str:
    """The unit after any number except one: "kilometers per hour", "square feet", "degrees Celsius"."""
    return _HEAD.sub(lambda head: _PLURALS.get(head[0], f"{head[0]}s"), unit, count=1)
