"""Which times an event loop stalled for 20 ms or more, from what it did when. Pure: times are passed in, seconds."""

from collections import deque
from dataclasses import dataclass
from typing import Any, Literal

SHORTEST = 0.02
"""Seconds; a shorter delay is one frame of audio, which the jitter buffer hides."""
KEPT = 512
"""Stalls that are remembered."""

Kind = Literal["event loop", "garbage collection"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stall:
    """A time in which everything on the event loop had to wait."""

    at: float
    """When it began, seconds on the monotonic clock."""
    seconds: float
    kind: Kind

    def to_json(self) -> dict[str, Any]:
        """The stall as the report of a turn has it."""
        return {"at": self.at, "ms": round(self.seconds * 1000, 1), "kind": self.kind}


class StallLog:
    """The latest stalls of one loop."""

    def __init__(self) -> None:
        self._stalls: deque[Stall] = deque(maxlen=KEPT)
        self._collected = 0.0

    def worked(self, start: float, end: float) -> None:
        """The loop ran callbacks; collections in it are stalls of their own."""
        self._note(start, end - start - self._collected, "event loop")
        self._collected = 0.0

    def slept(self, start: float, end: float, timeout: float | None) -> None:
        """The loop waited for events, for `timeout` seconds at the most."""
        if timeout is not None:
            due = start + max(0.0, timeout)
            self._note(due, end - due - self._collected, "event loop")
        self._collected = 0.0

    def collected(self, start: float, end: float) -> None:
        """Garbage was collected, in any thread: the others stood still."""
        self._collected += end - start
        self._note(start, end - start, "garbage collection")

    def between(self, since: float, until: float) -> list[Stall]:
        """The stalls that ended after `since` and not after `until`, in order."""
        # A copy: another thread may note a collection.
        found = [stall for stall in self._stalls.copy() if since < stall.at + stall.seconds <= until]
        return sorted(found, key=lambda stall: stall.at)

    def _note(self, at: float, seconds: float, kind: Kind) -> None:
        if seconds >= SHORTEST:
            self._stalls.append(Stall(at=at, seconds=seconds, kind=kind))
