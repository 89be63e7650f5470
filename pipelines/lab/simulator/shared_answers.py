"""The simulated model's part in answers that several models share: openings, verdicts, and the rest of an answer. Pure.

Its openings cover all cases. Most name the caller's subject. One in five agrees, which an opening may not do. An
opening about a conversion names the unit to convert from, which the answer then takes back.

Its verdict compares a draft with its own answer to the same conversation: numbers, days, yes or no. So it finds the
mistakes of another simulated model, and never objects to its own answer.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pipelines.lab.simulator.conversation import Message
from voice.llm.answer.conversation import CONTINUE, CORRECT, FOLLOW, OPEN, VERIFY
from voice.llm.draft_facts import facts_of

NOTHING_LEFT = "That was all."
_CONVERSION = re.compile(r"\bconvert\b.* (?P<start>[a-z]+) (?:to|into) (?P<end>[a-z]+)$")
_SUBJECT = re.compile(r"\b(?:the|a|an|my) (?P<subject>[a-z]+)\b")
_WRONG_EVERY = 5
_AGREES = "Sure, that is no problem at all."
_CORRECT = CORRECT[: CORRECT.index("{")]
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Relayed:
    """A conversation without the instructions of a relay.

    Parameters:
        messages: the words that were really said.
        opens: whether it asks for an opening.
        opening: the opening that was said; None without one.
    """

    messages: Sequence[Message]
    opens: bool = False
    opening: str | None = None


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A conversation without the instructions of a review.

    Parameters:
        messages: the words that were really said.
        draft: the draft to give a verdict on; None without one.
        corrects: whether to give the right answer after the beginning of a wrong one.
    """

    messages: Sequence[Message]
    draft: str | None = None
    corrects: bool = False


def relayed(messages: Sequence[Message]) -> Relayed:
    """Read the instructions of a relay, in whatever role they come."""
    last = messages[-1].text if messages else ""
    if last == OPEN:
        return Relayed(messages[:-1], opens=True)
    if last == FOLLOW and len(messages) > 1:
        return Relayed(messages[:-2], opening=messages[-2].text)
    return Relayed(messages)


def reviewed(messages: Sequence[Message]) -> Reviewed:
    """Read the instructions of a review, in whatever role they come."""
    last = messages[-1].text if len(messages) > 1 else ""
    if last == VERIFY:
        return Reviewed(messages[:-2], draft=messages[-2].text)
    if last.startswith(_CORRECT):
        return Reviewed(messages[:-2], corrects=True)
    return Reviewed(messages)


def begun(messages: Sequence[Message]) -> str | None:
    """The heard part of the answer, if the request asks for the rest of it; else None."""
    return messages[-2].text if len(messages) > 2 and messages[-1].text == CONTINUE else None


def rest_of(answer: str, *, heard: str) -> str:
    """The answer without the words that were heard, or all of it if it begins otherwise."""
    words, before = answer.split(), heard.split()
    if words[: len(before)] != before:
        return answer
    return " ".join(words[len(before) :]) or NOTHING_LEFT


def opening_for(asked: str, *, turn: int) -> str:
    """A simulated model's opening; `turn` counts the caller's turns from 1."""
    words = _plain(asked)
    if found := _CONVERSION.search(words):
        return f"About {found['start']}, let me see."
    if turn % _WRONG_EVERY == 0:
        return _AGREES
    if found := _SUBJECT.search(words):
        return f"About the {found['subject']}, let me see."
    return "Let me think about that."


def after_opening(answer: str, *, opening: str, asked: str) -> str:
    """The answer after an opening; it takes back an opening that names the wrong unit."""
    found = _CONVERSION.search(_plain(asked))
    if found and opening.startswith(f"About {found['start']},"):
        return f"Actually, you want {found['end']}. {answer}"
    return answer


def verdict_on(draft: str, own: str) -> str:
    """The verdict on a draft by a model that would have answered `own`."""
    stated = facts_of(own)
    return f"NO: the answer should be “{own}”" if stated and facts_of(draft) - stated else "YES"


def mistaken(text: str) -> str:
    """The text with its first number raised by one; the same text when it states no number."""
    return _NUMBER.sub(lambda found: str(int(found.group()) + 1), text, count=1)


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[^a-z' ]+", " ", text.lower()).split())
