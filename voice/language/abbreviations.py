"""The abbreviations of a language: what is said for them, and what tells whether their dot ends a sentence."""

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Abbreviations:
    """The abbreviations of one language, with what is said for each, in the form in which they are written."""

    leading: Mapping[str, str]
    """What follows one of these always belongs to it."""
    names: Mapping[str, str]
    """These end a sentence before a word that begins one."""
    trailing: Mapping[str, str]
    """These end a sentence before any capital but what `goes_on` matches."""
    words: frozenset[str]
    """Forms in small letters that are words, not abbreviations; titles and the like are known in them too."""
    starters: re.Pattern[str]
    """Words that begin sentences."""
    name: re.Pattern[str]
    """Other words with a dot that end a sentence as names do: initials, for example."""
    goes_on: re.Pattern[str] | None = None
    """A day, a month or a time zone, which may follow a time."""
    before_numbers: frozenset[str] = frozenset()
    """What is an abbreviation only before a number, in small letters."""
    numbered: re.Pattern[str] | None = None
    """The end of a text in which "no." stands for "number"."""
    amount: re.Pattern[str] | None = None
    """The end of a text in which a unit has a dot."""

    def said(self) -> dict[str, str]:
        """What is said for each of them, dots included, at the beginning of a sentence too."""
        return {
            form: said if form == short else said[0].upper() + said[1:]
            for table in (self.leading, self.names, self.trailing)
            for short, said in table.items()
            for form in ((short[0].upper() + short[1:], short) if len(short) > 2 else (short,))
        }
