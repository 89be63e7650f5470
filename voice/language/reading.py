"""The common base of all languages' reading rules."""

import re
from collections.abc import Callable, Mapping
from typing import ClassVar

from voice.language import Language
from voice.language.sentence_ends import dot_ends

NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
"""Digits, perhaps with commas between thousands, and decimals."""
ENDINGS = "com|org|net|edu|gov|io|dev|ai|app|info|co|uk|de|fr|eu|us|ca|au|me|tv|ch|at|nl|jp|in|rs|xyz"
"""Endings of web addresses."""
ABROAD = r"\+\d{1,3}(?:[ -]?\(0\))?(?:[ -]?\(?\d{2,8}\)?){2,5}"
CARD = r"\d{4}(?:[ -]\d{4}){3}(?!\w)|\d{4}[ -]\d{6}[ -]\d{5}(?!\w)"
MAIL = r"(?P<mail>[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{2,64}){1,4})"
WEB = (
    r"(?:https?://(?:www\.)?|www\.)(?P<rest>[\w-]+(?:[^\s<>\[\]\"]*[\w/)])?)",
    r"(?P<rest>(?:[a-z][a-z\d_-]+\.){1,4}[a-z]{2,12}(?:/[\w./-]*\w)?)(?![\w@])",
    rf"(?P<rest>(?:[\w-]{{1,63}}\.){{1,4}}(?:{ENDINGS})(?:/[\w./-]*\w)?)(?![\w@])",
)
_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


Form = Callable[[str], str]
"""A function that reads a text in one form, such as digit by digit."""


class _Group:
    """A group of a match: its format specification selects a spoken form of the language; empty without a match."""

    def __init__(self, written: str | None, forms: Mapping[str, Form]) -> None:
        self._written, self._forms = written, forms

    def __format__(self, form: str) -> str:
        return "" if self._written is None else self._forms[form](self._written)


class Rule:
    """A rule for text that is spoken in other words.

    Args:
        pattern: the written text, from the beginning of a word.
        say: its spoken form: a function of the match, a table by written text, or a text with groups of the pattern,
            each in one of the forms of the language ("{low} to {high:year}"); "{stop}" is a full stop if the dot at the
            end also ends the sentence.
        inside: whether it may begin inside a word.
        ignore_case: letters may be capitals or not.
    """

    language: ClassVar[Language] = "en"
    forms: ClassVar[Mapping[str, Form]] = {"text": str, "sign": lambda _: "minus "}
    """The spoken forms of a group; the form without a name is that of a number."""

    def __init__(
        self,
        pattern: str,
        say: Callable[["re.Match[str]"], str] | Mapping[str, str] | str,
        *,
        inside: bool = False,
        ignore_case: bool = False,
    ) -> None:
        boundary = "" if inside else r"(?<![^\W_])(?<!\d[.,])"
        self.expression = re.compile(boundary + pattern, re.IGNORECASE if ignore_case else 0)
        self._say = say

    def say(self, found: "re.Match[str]") -> str:
        """The spoken form of a match."""
        if callable(self._say):
            return self._say(found)
        if not isinstance(self._say, str):
            return self._say[found[0]]
        groups = {name: _Group(written, self.forms) for name, written in found.groupdict().items()}
        return self._say.format(stop=full_stop(found, self.language), **groups)


def full_stop(found: "re.Match[str]", language: Language = "en") -> str:
    """A full stop if the dot of "p.m." also ends the sentence: nothing follows, or another sentence begins."""
    if not found[0].endswith("."):
        return ""
    after = found.string[found.end() :]
    ends = not after.strip("\"')”’ ") or dot_ends(found.string[: found.end()], after, language=language)
    return "." if ends else ""


def roman(text: str) -> int | None:
    """The value of a Roman numeral; None for other letters, such as "IIII"."""
    if not re.fullmatch(r"M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})", text) or not text:
        return None
    values = [_ROMAN[char] for char in text]
    return sum(-value if any(later > value for later in values[at + 1 :]) else value for at, value in enumerate(values))
