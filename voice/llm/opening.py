"""Openings: a sentence by the fast tier, spoken while the large tier generates the answer. Pure.

An opening is spoken before there is an answer, and is checked before synthesis. It may acknowledge, name the caller's
subject in the caller's own words, and announce that the answer is being worked on, and nothing else: no yes or no, no
number, no name that the caller has not said, no promise, no result of a tool. A list of forbidden words would always be
incomplete, so this is a small grammar of allowed ones. A refused opening is replaced by a phrase that is always true.
"""

import re
from collections.abc import Callable
from dataclasses import replace

from voice.frames import AnswerTextFrame
from voice.llm.routing.plain_words import plain

LONGEST = 10
"""The most words of an opening: the answer waits until it has been spoken."""

_SUBJECT = r"(?P<subject>[\w'-]+(?: [\w'-]+){0,7}?)"
_ACKNOWLEDGED = (
    r"(?:h+m+|ah|oh|well|so|got it|i see|understood"
    r"|(?:(?:that's|that is) )?(?:a )?(?:good|fair|interesting|great) question"
    r"|(?:thanks|thank you)(?: for (?:asking|the question))?)"
)
_IT = r"(?:that|this|it|your question)"
_WHILE = r"(?: for (?:a|one|just a) (?:moment|second|minute))?"
_WORK = (
    rf"let me (?:just )?(?:think|see)(?: about {_IT})?(?: carefully)?{_WHILE}",
    rf"let me (?:just )?(?:work|figure|think) {_IT} (?:out|through)",
    rf"let me (?:just )?(?:consider|go through|go over|work through|work on|think through) {_IT}{_WHILE}",
    rf"let me (?:just )?take (?:a|one) (?:moment|second|minute)(?: (?:for|with) {_IT})?",
    rf"(?:i'm|i am) (?:just )?(?:thinking|thinking about {_IT}|working on {_IT}|working {_IT} out)",
    rf"(?:just |(?:give me|i need) (?:just )?)?(?:a|one) (?:moment|second|minute)(?: (?:for|with) {_IT})?",
    rf"bear with me{_WHILE}",
)
_WORK_ON = (
    rf"let me (?:just )?(?:think|see) about {_SUBJECT}{_WHILE}",
    rf"let me (?:just )?(?:consider|go through|go over|work through|work on|think through) {_SUBJECT}{_WHILE}",
    rf"(?:i'm|i am) (?:just )?(?:thinking about|working on) {_SUBJECT}",
)
_ABOUT = r"(?:about|for|on|regarding|concerning|with|as for)"
_FORMS = tuple(
    re.compile(rf"(?:{_ACKNOWLEDGED} )?{form}")
    for form in (*_WORK, *(rf"{_ABOUT} {_SUBJECT} {work}" for work in _WORK), *_WORK_ON)
) + (re.compile(_ACKNOWLEDGED),)

# Caller's words that would be a claim if the agent said them; verbs turn a subject into a statement.
_CLAIMS = re.compile(
    r"yes|yeah|yep|yup|no|nope|not|never|none|sure|okay|ok|right|correct|wrong|true|false|fine|safe|certainly|absolutely"
    r"|definitely|course|indeed|exactly|is|are|was|were|am|be|been|being|has|have|had|will|would|can|could|should|shall"
    r"|may|might|must|do|does|did|done|sent|paid|gone|won|lost|sold|found|because|promise|guarantee|always|gets?|got|it's"
    r"|zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty"
    r"|hundred|thousand|million|billion|half|quarter|third|double|twice|once|dozen|percent|\w+n't|\w+'(?:s|re|ll|ve|d)"
    r"|\w*\d\w*|\w{2,}ed"
)
_YOURS = {"my": "your", "our": "your", "mine": "yours", "i": "you", "me": "you", "we": "you", "us": "you"}
_DETERMINERS = frozenset(("the", "your", "that", "this", "these", "those", "a", "an"))


def objection(text: str, *, said: str) -> str | None:
    """Why an opening may not be spoken; None if it may.

    Args:
        text: the opening.
        said: the caller's words, the only source for its subject.
    """
    words = plain(text)
    if not words:
        return "it has no words"
    if "?" in text:
        return "it asks something"
    if len(words.split()) > LONGEST:
        return f"it has more than {LONGEST} words"
    found = next((found for form in _FORMS if (found := form.fullmatch(words))), None)
    if found is None:
        return "it does more than acknowledge, name the subject and announce work"
    subject = found.groupdict().get("subject")
    return None if subject is None else _objection_to_subject(subject.split(), said)


def _objection_to_subject(subject: list[str], said: str) -> str | None:
    if claim := next((word for word in subject if _CLAIMS.fullmatch(word)), None):
        return f'it says "{claim}" before there is an answer'
    parts = subject[next((at for at, word in enumerate(subject) if word not in _DETERMINERS), len(subject)) :]
    callers = [_YOURS.get(word, word) for word in plain(said).split()]
    # In the same order and without gaps: anything else would be a new statement.
    if not any(callers[at : at + len(parts)] == parts for at in range(len(callers) - len(parts) + 1)):
        return f'the caller has not said "{" ".join(subject)}"'
    return None


REPAIR = "Actually,"
"""Words by which an answer openly takes back its opening."""
_REPAIRS = re.compile(
    r"(?:actually|correction|i misspoke|let me correct (?:that|myself)|sorry i (?:meant|misspoke)|wait)\b"
)
_DAYS = frozenset(f"{day}day" for day in ("mon", "tues", "wednes", "thurs", "fri", "satur", "sun"))
_MONTHS = frozenset(
    ("january", "february", "march", "april", "june", "july", "august", "september", "october", "november", "december")
)
_RELATIVE = frozenset(("today", "tomorrow", "yesterday", "tonight"))
_BEGINNING = 4
"""Words in which an answer names its subject."""
_PARTS = frozenset(("morning", "afternoon", "evening", "night", "noon"))


def is_repair(text: str) -> bool:
    """Whether an answer begins by openly taking back the previous words."""
    return _REPAIRS.match(plain(text)) is not None


def contradicts(opening: str, text: str) -> bool:
    """Whether an answer begins with another day, month or time of day than its opening named.

    Only such words can be compared without understanding them, and an opening can claim nothing else. Later in the
    answer, another day may be news ("it can be moved to Monday").
    """
    before, after = set(plain(opening).split()), set(plain(text).split()[:_BEGINNING])
    return any(
        before & kind and after & kind and not before & after & kind for kind in (_DAYS, _MONTHS, _RELATIVE, _PARTS)
    )


class Repair:
    """Watches the first words of an answer that follows an opening, or the first sentence of a draft.

    Args:
        said: the words already spoken.
        denied: whether the answer's first clause contradicts the words already spoken.
    """

    def __init__(self, said: str, *, denied: Callable[[str, str], bool] = contradicts) -> None:
        self._said, self._denied = said, denied
        self._begun = False
        self.words: str | None = None
        """The words that take them back; None if nothing does."""

    def apply(self, piece: AnswerTextFrame) -> AnswerTextFrame:
        """The piece, after a repair if it is the first one and silently contradicts the words spoken."""
        if self._begun or not piece.clauses:
            return piece
        self._begun = True
        first, *rest = piece.clauses
        if is_repair(first):
            self.words = first
            return piece
        if not self._denied(self._said, first):
            return piece
        lead = len(piece.text) - len(piece.text.lstrip())
        text = f"{piece.text[:lead]}{REPAIR} {_inside(piece.text[lead:])}"
        self.words = f"{REPAIR} {_inside(first)}"
        return replace(piece, text=text, clauses=(self.words, *rest))


def _inside(text: str) -> str:
    """A sentence in the form it takes after a first word."""
    first = text.split(maxsplit=1)[0] if text.split() else ""
    is_name = first.casefold() in ("i", "i'm", "i'll", "i've") or (first[1:] and first != first.capitalize())
    return text if is_name else text[:1].lower() + text[1:]
