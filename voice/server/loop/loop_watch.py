"""Measures when the server's event loop stalls, that is, when everything that waited for it waited 20 ms or more.

asyncio hands its selector the time until its next timer and runs what is due when that returns. So the time between
two polls is the loop's own work, to the microsecond, and a poll that returns late is a process that got no processor.
Watching costs two readings of the clock in each round, and while a call is on a timer every 20 ms, without which a
poll could sleep too long to be late.
"""

import asyncio
import gc
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from latency.record.turn import Stall
from voice.queue_waits import QueueWaits
from voice.server.headroom.loop_load import LoopLoad
from voice.server.loop.stall_log import StallLog

TICK = 0.02
"""Seconds after which the loop is woken during calls."""

NOTED = 0.002
"""Seconds by which a poll has to be late to count."""

Poll = Callable[[float | None], Any]
"""A selector's `select`."""


class LoopWatch:
    """Watches one event loop, through a selector that polls as `timed` says, and the process's collections.

    Args:
        loop: the loop; call this in its thread.
        clock: seconds, monotonic.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, clock: Callable[[], float] = time.monotonic) -> None:
        self.log = StallLog()
        self.load = LoopLoad()
        self.waits = QueueWaits("event_loop")
        """How late the loop's own timer is during calls, which is how long everything waits for its turn."""
        self._loop = weakref.ref(loop)
        self._clock = clock
        self._calls = 0
        self._due = 0.0
        """When the loop should be woken next."""
        self._collecting: float | None = None
        _WATCHES[loop] = self
        gc.callbacks.append(self._on_collection)

    @staticmethod
    def of(loop: asyncio.AbstractEventLoop) -> "LoopWatch | None":
        """The watch of a loop; None when it is not watched."""
        return _WATCHES.get(loop)

    def close(self) -> None:
        """Watch no longer."""
        gc.callbacks.remove(self._on_collection)
        if (loop := self._loop()) is not None:
            _WATCHES.pop(loop, None)

    def between(self, since: float, until: float) -> list[Stall]:
        """The stalls that ended after `since` and not after `until`, to a tenth of a millisecond."""
        return [replace(stall, ms=round(stall.ms, 1)) for stall in self.log.between(since, until)]

    def call_began(self) -> None:
        """A call has begun; the loop is woken until as many calls have ended."""
        self._calls += 1
        if self._calls == 1:
            self._due = self._clock()
            self._tick()

    def call_ended(self) -> None:
        """A call has ended."""
        self._calls -= 1

    def timed(self, poll: Poll) -> Poll:
        """`poll`, with its times and the work between two polls logged."""
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


_WATCHES: "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, LoopWatch]" = weakref.WeakKeyDictionary()
