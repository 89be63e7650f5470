"""What the responder knows during a call: running timers, remembered facts, the last answer."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Timer:
    """A running timer.

    Parameters:
        number: its place in the order of starting, unique within a call.
        seconds: its whole length.
        length: the length as answers say it ("10 seconds").
        due: when it ends, on the clock that requests carry.
        name: what the user calls it ("pasta"), or None.
    """

    number: int
    seconds: float
    length: str
    due: datetime
    name: str | None = None


@dataclass(frozen=True, slots=True)
class State:
    """Everything a call's responder knows; immutable, so that a speculative answer can be dropped.

    Parameters:
        timers: those running, in the order of starting.
        started: how many timers were ever started.
        facts: what the user asked to remember, in their words, oldest first.
        last_answer: what was said last, or None.
        refusals: how often no answer was known.
        awaiting: what the last answer asked for ("timer length", "timer choice"), or None.
    """

    timers: tuple[Timer, ...] = ()
    started: int = 0
    facts: tuple[str, ...] = ()
    last_answer: str | None = None
    refusals: int = 0
    awaiting: str | None = None

    def but(self, **changes: Any) -> "State":
        """A copy with these fields changed."""
        return replace(self, **changes)
