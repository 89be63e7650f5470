"""The forms in which English rules say what is written."""

from voice.language import reading
from voice.language.english.numbers import cardinal, decade, digits, grouped, number, ordinal, year


class Rule(reading.Rule):
    """A rule of English."""

    forms = {
        **reading.Rule.forms,
        "": number,
        "cardinal": lambda text: cardinal(int(text)),
        "ordinal": lambda text: ordinal(int(text.replace(",", ""))),
        "year": lambda text: year(int(text)),
        "decade": lambda text: decade(int(text)),
        "digits": digits,
        "grouped": grouped,
        "points": lambda text: " point ".join(cardinal(int(part)) for part in text.split(".")),
    }
