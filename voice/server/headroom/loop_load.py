"""How busy an event loop is, and for how long it leaves everything else waiting. Pure: times are passed in, seconds."""

from collections import deque

SLICE = 0.25
WINDOW = 5.0
"""Seconds over which the load is taken, in slices of `SLICE`."""


class LoopLoad:
    """The work of one event loop over the latest `WINDOW`.

    A slice holds the seconds in which callbacks ran and the longest delay; a delay that reaches into several slices
    counts in the one in which it ended.
    """

    def __init__(self) -> None:
        self._slices: deque[list[float]] = deque(maxlen=round(WINDOW / SLICE))

    def worked(self, start: float, end: float) -> None:
        """The loop ran callbacks from `start` to `end`, so that everything else waited."""
        current = self._slice(end)
        current[1] += end - start
        current[2] = max(current[2], end - start)

    def late(self, seconds: float, now: float) -> None:
        """The process was woken this much later than it had asked for."""
        current = self._slice(now)
        current[2] = max(current[2], seconds)

    def busy(self, now: float) -> float:
        """The share of the window in which callbacks ran; 1 is a loop that can do no more."""
        return min(1.0, sum(one[1] for one in self._slices if one[0] > now - WINDOW - SLICE) / WINDOW)

    def longest(self, now: float) -> float:
        """The longest delay within the window, seconds."""
        return max((one[2] for one in self._slices if one[0] > now - WINDOW - SLICE), default=0.0)

    def _slice(self, now: float) -> list[float]:
        """The slice of an instant: its beginning, the seconds of work in it, and the longest delay."""
        begin = now // SLICE * SLICE
        if not self._slices or self._slices[-1][0] != begin:
            self._slices.append([begin, 0.0, 0.0])
        return self._slices[-1]
