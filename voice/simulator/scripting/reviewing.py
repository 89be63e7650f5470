"""How a simulated model takes part in the review of a draft: it gives a verdict, or the answer after a fault. Pure.

It compares the draft with its own answer to the same conversation: numbers, days, yes or no. So it finds what another
simulated model got wrong, and never objects to what it would have said itself.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from voice.llm.answer.conversation import CORRECT, VERIFY
from voice.llm.drafts import facts_of
from voice.simulator.conversation import Message

_CORRECT = CORRECT[: CORRECT.index("{")]
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A conversation without the instructions of a review.

    Parameters:
        messages: what was really said.
        draft: the draft on which a verdict is asked for; None when none is.
        corrects: whether the right answer is asked for after the beginning of a wrong one.
    """

    messages: Sequence[Message]
    draft: str | None = None
    corrects: bool = False


def reviewed(messages: Sequence[Message]) -> Reviewed:
    """Read a request's instructions, in whatever role they come."""
    last = messages[-1].text if len(messages) > 1 else ""
    if last == VERIFY:
        return Reviewed(messages[:-2], draft=messages[-2].text)
    if last.startswith(_CORRECT):
        return Reviewed(messages[:-2], corrects=True)
    return Reviewed(messages)


def verdict_on(draft: str, own: str) -> str:
    """The verdict on a draft by a model that would have answered `own`."""
    stated = facts_of(own)
    return f"NO: the answer should be “{own}”" if stated and facts_of(draft) - stated else "YES"


def mistaken(text: str) -> str:
    """The text with its first number raised by one; the same text when it states no number."""
    return _NUMBER.sub(lambda found: str(int(found.group()) + 1), text, count=1)
