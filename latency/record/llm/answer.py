"""One answer that was asked for under an LLM budget, as the server reports it and a run folder keeps it."""

from dataclasses import dataclass
from typing import Literal

from latency.budget import Limit, Stage
from latency.record.llm.verification import Verification
from latency.record.llm.vote import Vote
from latency.record.units import Count, Instant

PhraseKind = Literal["hold", "delay", "opening", "progress"]
"""A phrase that was said because the budget was spent, because the answer took unusually long, as the answer's opening
(a sentence that claims nothing, spoken while the answer is made), or while a tool ran."""
Cap = Literal["call", "day"]
"""A limit of what a call, or the calls of a day, may cost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrase:
    """Words that bridged the wait for an answer; they never count as an answer."""

    at: Instant | None = None
    """When they were handed to synthesis."""
    kind: PhraseKind = "hold"
    text: str = ""
    tier: str | None = None
    """The tier that worded it; None for one of the phrases that are always true."""
    rejected: str | None = None
    """Why a tier's own opening was not said, and this was instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRecord:
    """An answer and how it came about; a turn in which tools were called has several."""

    response: Count | None = None
    """Its number in the call, from 0."""
    policy: str | None = None
    """Name of the policy."""
    reason: str | None = None
    """Why the policy asked in this order; one clause."""
    commit: Instant | None = None
    """When the user's turn was committed; None while the requests are speculative, and if they were discarded."""
    deadline: Instant | None = None
    """When the first speakable clause was due; None before the commit."""
    limit: Limit | None = None
    """What set the deadline."""
    charged: Stage | None = None
    """The stage that overspent, when the deadline is a floor."""
    said: tuple[Phrase, ...] = ()
    """Phrases that bridged the wait, in order."""
    gave_up: str | None = None
    """Why no answer came, or not all of it; one sentence."""
    tier: str | None = None
    """The tier that spoke first."""
    cap: Cap | None = None
    """The spending cap that was reached before it, so that the cheapest tier was asked; None for none."""
    repaired: str | None = None
    """The words with which the answer openly took its opening, or the first sentence of its draft, back."""
    vote: Vote | None = None
    """How it was picked from several candidates; None for an answer without."""
    verification: Verification | None = None
    """How its draft was verified; None for an answer without."""
    forgotten: Count | None = None
    """How many earlier turns of the call its requests no longer contained; None where none was forgotten."""

    @property
    def is_committed(self) -> bool:
        """Whether the answer was for a committed turn; a discarded speculative answer was not.

        Without aligned clocks the instants are unknown, but not what set the deadline.
        """
        return self.commit is not None or self.limit is not None
