"""The load of the server's event loop, and its stalls: delays of 20 ms or more for everything that waits for it.

asyncio passes its selector the time until the next timer, and runs callbacks after it returns. So the time between two
polls is the loop's own work, and a late return means that the process had no processor. Watching costs two clock
readings per round and, during calls, a timer every 20 ms, which keeps polls short enough to show a delay.
"""

import asyncio
import gc
import time
import weakref
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from latency.budget import SHORTEST_STALL_MS
from latency.record.turn import Stall, StallKind
from voice.queue_waits import QueueWaits

SLICE = 0.25
WINDOW = 5.0
"""Seconds over which the load is measured, in slices of `SLICE`."""
KEPT = 512
"""The number of stalls remembered."""
TICK = 0.02
"""Seconds between two wake-ups of the loop during calls."""
NOTED = 0.002
"""The least delay of a poll that counts, in seconds."""
Poll = Callable[[float | None], Any]
"""A selector's `select`."""


class LoopLoad:
    """The work of one event loop over the latest `WINDOW`.

    A slice holds the seconds of callbacks and the longest delay; a delay counts in the slice in which it ends.
    """

    def __init__(self) -> None:
        self._slices: deque[list[float]] = deque(maxlen=round(WINDOW / SLICE))

    def worked(self, start: float, end: float) -> None:
        """Count callbacks that ran from `start` to `end`, while everything else waited."""
        current = self._slice(end)
        current[1] += end - start
        current[2] = max(current[2], end - start)

    def late(self, seconds: float, now: float) -> None:
        """Count a wake-up that was this many seconds late."""
        current = self._slice(now)
        current[2] = max(current[2], seconds)

    def busy(self, now: float) -> float:
        """The share of the window in which callbacks ran; at 1 the loop is saturated."""
        return min(1.0, sum(one[1] for one in self._slices if one[0] > now - WINDOW - SLICE) / WINDOW)

    def longest(self, now: float) -> float:
        """The longest delay within the window, seconds."""
        return max((one[2] for one in self._slices if one[0] > now - WINDOW - SLICE), default=0.0)

    def _slice(self, now: float) -> list[float]:
        """The slice of an instant: its beginning, seconds of work, and longest delay."""
        begin = now // SLICE * SLICE
        if not self._slices or self._slices[-1][0] != begin:
            self._slices.append([begin, 0.0, 0.0])
        return self._slices[-1]


class StallLog:
    """The latest stalls of one loop."""

    def __init__(self) -> None:
        self._stalls: deque[Stall] = deque(maxlen=KEPT)
        self._collected = 0.0

    def worked(self, start: float, end: float) -> None:
        """Count callbacks; garbage collections among them are stalls of their own."""
        self._note(start, end - start - self._collected, "event loop")
        self._collected = 0.0

    def slept(self, start: float, end: float, timeout: float | None) -> None:
        """Count a wait for events of at most `timeout` seconds."""
        if timeout is not None:
            due = start + max(0.0, timeout)
            self._note(due, end - due - self._collected, "event loop")
        self._collected = 0.0

    def collected(self, start: float, end: float) -> None:
        """Count a garbage collection, in any thread; it stopped all others."""
        self._collected += end - start
        self._note(start, end - start, "garbage collection")

    def between(self, since: float, until: float) -> list[Stall]:
        """The stalls that ended after `since` and by `until`, in order."""
        # A copy: another thread may note a collection.
        found = [stall for stall in self._stalls.copy() if since < stall.end <= until]
        return sorted(found, key=lambda stall: stall.at)

    def _note(self, at: float, seconds: float, kind: StallKind) -> None:
        if (ms := seconds * 1000) >= SHORTEST_STALL_MS:
            self._stalls.append(Stall(at=at, ms=ms, kind=kind))


class LoopWatch:
    """Watches one event loop, through its selector (`timed`), and the process's garbage collections.

    Args:
        loop: the loop; call this in its thread.
        clock: seconds, monotonic.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, clock: Callable[[], float] = time.monotonic) -> None:
        self.log = StallLog()
        self.load = LoopLoad()
        self.waits = QueueWaits("event_loop")
        """The delays of the loop's own timer during calls: how long everything waits for its turn."""
        self._loop = weakref.ref(loop)
        self._clock = clock
        self._calls = 0
        self._due = 0.0
        """When the loop is to be woken next."""
        self._collecting: float | None = None
        gc.callbacks.append(self._on_collection)

    @classmethod
    def begin(cls, loop: asyncio.AbstractEventLoop) -> "LoopWatch | None":
        """Watch a loop through a wrapper around its selector; None if it has none.

        asyncio reports the duration of callbacks only in debug mode, which is far too slow for calls.
        """
        selector = getattr(loop, "_selector", None)
        if selector is None:
            return None
        watch = cls(loop)
        selector.select = watch.timed(selector.select)
        return watch

    def close(self) -> None:
        """Stop watching."""
        gc.callbacks.remove(self._on_collection)
        selector = getattr(self._loop(), "_selector", None)
        if selector is not None:
            vars(selector).pop("select", None)

    def between(self, since: float, until: float) -> list[Stall]:
        """The stalls that ended after `since` and by `until`, to a tenth of a millisecond."""
        return [replace(stall, ms=round(stall.ms, 1)) for stall in self.log.between(since, until)]

    def call_began(self) -> None:
        """Begin a call; the loop is woken until all calls have ended."""
        self._calls += 1
        if self._calls == 1:
            self._due = self._clock()
            self._tick()

    def call_ended(self) -> None:
        """End a call."""
        self._calls -= 1

    def timed(self, poll: Poll) -> Poll:
        """`poll`, which also records its duration and the work between two polls."""
        clock, log, load = self._clock, self.log, self.load
        woke = clock()

        def select(timeout: float | None = None) -> Any:
            nonlocal woke
            asleep = clock()
            log.worked(woke, asleep)
            load.worked(woke, asleep)
            ready = poll(timeout)
            woke = clock()
            log.slept(asleep, woke, timeout)
            if timeout is not None and (late := woke - asleep - max(0.0, timeout)) > NOTED:
                load.late(late, woke)
            return ready

        return select

    def _tick(self) -> None:
        now = self._clock()
        self.waits.note(max(0.0, now - self._due), now)
        self._due = now + TICK
        loop = self._loop()
        if loop is not None and self._calls > 0 and not loop.is_closed():
            loop.call_later(TICK, self._tick)

    def _on_collection(self, phase: str, _info: Mapping[str, int]) -> None:
        if phase == "start":
            self._collecting = self._clock()
        elif self._collecting is not None:
            self.log.collected(self._collecting, self._clock())
            self._collecting = None
