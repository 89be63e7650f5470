"""A part of a call that hung: it had something to do for the caller, and for too long did nothing."""

from dataclasses import dataclass
from typing import Literal

from latency.record.units import Instant, Seconds

Part = Literal[
    "voice detector", "recogniser", "turn taking", "language model", "tool", "synthesis", "transport", "processor"
]
"""What hung: the detector of speech; what makes text of speech; what decides on the end of turns; what answers; a tool
that it called; what makes speech of text; what sends the speech; or another processor of the pipeline."""

HEARING: frozenset[Part] = frozenset({"voice detector", "recogniser", "turn taking", "processor"})
"""The parts that a caller's words pass before they are answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HangRecord:
    """One part that hung in a turn."""

    part: Part
    at: Instant | None = None
    """When the call stopped waiting for it."""
    seconds: Seconds | None = None
    """How long it had had."""
    answered: bool = False
    """Whether some of the turn's answer had been spoken before."""
    ended_call: bool = False
    """Whether the call was ended: nothing could be said, or it had hung again and again."""
