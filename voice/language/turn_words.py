"""The words by which turns and interruptions are judged, as one record for each language."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from voice.language import Language

LeadIn = Literal["yes", "no", "greeting", "joint"]
"""The kinds of lead-ins: possible answers yes or no, others that may stand alone ("hello", "wait"), and those that
never do ("so", "um")."""

_WORD = re.compile(r"[a-z0-9'äöüß]+")


def words_of(text: str) -> str:
    """The words of a text in lower case with single spaces, in any recogniser's spelling."""
    return " ".join(_WORD.findall(text.lower().replace("’", "'")))


def alternatives(phrases: Iterable[str]) -> str:
    """A regular expression for any of the phrases, the longest first."""
    return "|".join(sorted(map(re.escape, phrases), key=len, reverse=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionPatterns:
    """Patterns for what the agent's sentences ask for, in lower case."""

    opening: re.Pattern[str]
    """Words that may precede the question itself."""
    spelling: re.Pattern[str]
    number: re.Pattern[str]
    wants: re.Pattern[str]
    """Requests for information in any form: "Could you tell me …?" wants more than a yes."""
    telling: re.Pattern[str]
    """Questions that want a story."""
    offer: re.Pattern[str]
    yes_no: re.Pattern[str]
    """A leading verb."""
    tag: re.Pattern[str]
    """"…, right?" at the end."""
    states: re.Pattern[str]
    """Subjects: a question that begins with one and asks for nothing ("You said ten?") wants a yes or a no."""
    choice: re.Pattern[str]
    asks: re.Pattern[str]
    """Question words."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TurnWords:
    """The words of one language, in lower case without punctuation."""

    code: Language
    decimal_mark: str
    """The separator between a number and its decimals."""
    lead_ins: Mapping[LeadIn, tuple[str, ...]]
    """Words said as often alone as before a request; see `voice.turns.words.short_replies`."""
    backchannels: tuple[str, ...]
    """Said while listening; "and", "so" and "then" only lead on to more."""
    laughter: tuple[str, ...]
    """Syllables that are laughter, or a hum, if they are repeated; see `voice.turns.words.laughter`."""
    stops: tuple[str, ...]
    """Words that take the floor from a speaker, and words that begin a correction."""
    never_own: frozenset[str]
    """Words by which callers take the turn. Alone or in pairs they count as the caller's, even if the agent speaks
    them."""
    go_on: tuple[str, ...]
    """Words that ask the agent to go on, besides a yes."""
    polite: tuple[str, ...]
    """Words that may follow these."""
    thanks: str
    """A regular expression of thanks."""
    farewell: str
    """A regular expression of farewells."""
    around_farewell: str
    """A regular expression of words before or after a farewell."""
    questions: QuestionPatterns
    digits: frozenset[str]
    in_numbers: re.Pattern[str]
    """Words that belong to a number read aloud, without being single digits."""
    as_in: re.Pattern[str]
    """A letter that is explained: "b as in bravo"; its group 1 is the letter."""

    def plain_numbers(self, text: str) -> str:
        """The text with its numbers written as in programs: "1,000.5" or "1.000,5" as "1000.5"."""
        thousands = "," if self.decimal_mark == "." else "."
        plain = re.sub(rf"(?<=\d){re.escape(thousands)}(?=\d{{3}}(?!\d))", "", text)
        return plain if self.decimal_mark == "." else re.sub(rf"(?<=\d){self.decimal_mark}(?=\d)", ".", plain)
