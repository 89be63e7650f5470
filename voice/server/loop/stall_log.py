"""Which times an event loop stalled for 20 ms or more, from what it did when. Pure: times are passed in, seconds."""

from collections import deque

from latency.budget import SHORTEST_STALL_MS
from latency.record.turn import Stall, StallKind

KEPT = 512
"""Stalls that are remembered."""


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
        found = [stall for stall in self._stalls.copy() if since < stall.end <= until]
        return sorted(found, key=lambda stall: stall.at)

    def _note(self, at: float, seconds: float, kind: StallKind) -> None:
        if (ms := seconds * 1000) >= SHORTEST_STALL_MS:
            self._stalls.append(Stall(at=at, ms=ms, kind=kind))
