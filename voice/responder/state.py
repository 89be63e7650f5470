"""The responder's state during a call: running timers, remembered facts, lists, the last answer."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Timer:
    """A running timer or reminder.

    Parameters:
        number: counts the call's timers from 1 in the order they were started.
        seconds: its full length.
        length: the length in words, as answers give it ("10 seconds").
        due: when it ends, local time.
        name: what the user calls it ("pasta"), or None.
        task: what a reminder is about ("to call your mother"), from the responder's side; None for a timer.
    """

    number: int
    seconds: float
    length: str
    due: datetime
    name: str | None = None
    task: str | None = None


@dataclass(frozen=True, slots=True)
class State:
    """The responder's state during a call; immutable, so that a speculative answer can be discarded.

    Parameters:
        timers: the running ones, in the order they were started.
        started: number of timers started so far.
        facts: what the user asked the responder to remember, in the user's words, oldest first.
        last_answer: what was said last, or None.
        refusals: number of times that no answer was known.
        awaiting: what the last answer asked for ("timer length", "timer choice"), or None.
        task: what a reminder is wanted for whose time was asked, or None.
        lists: lists of things by name ("shopping"), in the order they were begun.
    """

    timers: tuple[Timer, ...] = ()
    started: int = 0
    facts: tuple[str, ...] = ()
    last_answer: str | None = None
    refusals: int = 0
    awaiting: str | None = None
    task: str | None = None
    lists: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def but(self, **changes: Any) -> "State":
        """A copy with these fields changed."""
        return replace(self, **changes)
