"""The abbreviations of a language: their spoken forms, and rules for whether their dot ends a sentence."""

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Abbreviations:
    """The abbreviations of one language in their written forms, each with its spoken form."""

    leading: Mapping[str, str]
    """Abbreviations that never end a sentence."""
    names: Mapping[str, str]
    """Abbreviations that end a sentence before a match of `starters`."""
    trailing: Mapping[str, str]
    """Abbreviations that end a sentence before any capital, except a match of `goes_on`."""
    words: frozenset[str]
    """Forms in small letters that are words, not abbreviations; titles and the like are known in them too."""
    starters: re.Pattern[str]
    """Words that begin sentences."""
    name: re.Pattern[str]
    """Other words with a dot that end a sentence like names, such as initials."""
    goes_on: re.Pattern[str] | None = None
    """A day, a month or a time zone, which may follow a time."""
    before_numbers: frozenset[str] = frozenset()
    """Lower-case words that are abbreviations only before a number."""
    numbered: re.Pattern[str] | None = None
    """The end of a text in which "no." stands for "number"."""
    amount: re.Pattern[str] | None = None
    """The end of a text in which a unit has a dot."""

    def said(self) -> dict[str, str]:
        """The spoken form of each, with its dots, also in the form at the beginning of a sentence."""
        return {
            form: said if form == short else said[0].upper() + said[1:]
            for table in (self.leading, self.names, self.trailing)
            for short, said in table.items()
            for form in ((short[0].upper() + short[1:], short) if len(short) > 2 else (short,))
        }
