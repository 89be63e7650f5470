"""The spoken forms for English rules."""

from voice.language import reading
from voice.language.english.numbers import cardinal, decade, digits, grouped, number, ordinal, year


def _roman(text: str) -> str:
    """A Roman numeral, as a year if it is that large; other letters as they are."""
    value = reading.roman(text)
    return text if value is None else year(value) if value > 1000 else cardinal(value)


class Rule(reading.Rule):
    """A rule of English."""

    forms = {
        **reading.Rule.forms,
        "": number,
        "cardinal": lambda text: cardinal(int(text)),
        "ordinal": lambda text: ordinal(int(text.replace(",", ""))),
        "year": lambda text: year(int(text)),
        "decade": lambda text: decade(int(text)),
        "roman": _roman,
        "ruler": lambda text: f"the {ordinal(value)}" if (value := reading.roman(text)) else text,
        "digits": digits,
        "grouped": grouped,
        "points": lambda text: " point ".join(cardinal(int(part)) for part in text.split(".")),
    }
