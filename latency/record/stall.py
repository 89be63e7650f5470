"""Times in which the server's event loop served no call, as its turns report them."""

from dataclasses import dataclass
from typing import Literal

from latency.record.units import EarlierInstant, Milliseconds

StallKind = Literal["event loop", "garbage collection"]
SHORTEST_MS = 20.0
"""A shorter delay of the event loop is not recorded: it is one frame of audio, which the jitter buffer hides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stall:
    """One such time of at least 20 ms."""

    at: EarlierInstant
    """When it began."""
    ms: Milliseconds
    """How long it lasted."""
    kind: StallKind

    @property
    def end(self) -> float:
        """When it ended, on the clock of `at`."""
        return self.at + self.ms / 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStall(Stall):
    """A stall and where in the conversation it was."""

    session: str
    turn: int | None
    """The latest turn that had begun; None before the first."""
