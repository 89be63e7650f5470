"""How a simulated model takes part in a relay: it words an opening, or answers after one. Pure.

Its openings are made to show all that can happen. Most name the caller's subject. One in five agrees, which an opening
may not do. One about a conversion names the unit to convert from, which the answer then takes back.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from voice.llm.answer.conversation import FOLLOW, OPEN
from voice.simulator.conversation import Message

_CONVERSION = re.compile(r"\bconvert\b.* (?P<start>[a-z]+) (?:to|into) (?P<end>[a-z]+)$")
_SUBJECT = re.compile(r"\b(?:the|a|an|my) (?P<subject>[a-z]+)\b")
_WRONG_EVERY = 5
_AGREES = "Sure, that is no problem at all."


@dataclass(frozen=True, slots=True)
class Relayed:
    """A conversation without the instructions of a relay.

    Parameters:
        messages: what was really said.
        opens: it asks for an opening.
        opening: the opening that was said; None without one.
    """

    messages: Sequence[Message]
    opens: bool = False
    opening: str | None = None


def relayed(messages: Sequence[Message]) -> Relayed:
    """Read a request's instructions, in whatever role they come."""
    last = messages[-1].text if messages else ""
    if last == OPEN:
        return Relayed(messages[:-1], opens=True)
    if last == FOLLOW and len(messages) > 1:
        return Relayed(messages[:-2], opening=messages[-2].text)
    return Relayed(messages)


def opening_for(asked: str, *, turn: int) -> str:
    """The opening that a simulated model words; `turn` counts the caller's turns from 1."""
    words = _plain(asked)
    if found := _CONVERSION.search(words):
        return f"About {found['start']}, let me see."
    if turn % _WRONG_EVERY == 0:
        return _AGREES
    if found := _SUBJECT.search(words):
        return f"About the {found['subject']}, let me see."
    return "Let me think about that."


def after_opening(answer: str, *, opening: str, asked: str) -> str:
    """The answer as it goes on from an opening; it takes back one that names the wrong unit."""
    found = _CONVERSION.search(_plain(asked))
    if found and opening.startswith(f"About {found['start']},"):
        return f"Actually, you want {found['end']}. {answer}"
    return answer


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[^a-z' ]+", " ", text.lower()).split())
