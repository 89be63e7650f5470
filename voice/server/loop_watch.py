"""Notes when the server's event loop did not come round for 20 ms or more: whatever waited for it waited that long.

asyncio hands its selector the time until its next timer and runs what is due when that returns. So the time between
two polls is the loop's own work, to the microsecond, and a poll that returns late is a process that got no processor.
Watching costs two readings of the clock in each round, and while a call is on a timer every 20 ms, without which a
poll could sleep too long to be late.
"""

import asyncio
import gc
import time
import weakref
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

SHORTEST = 0.02
"""Seconds; a shorter delay is one frame of audio, which the jitter buffer hides."""
TICK = 0.02
"""Seconds after which the loop is woken during calls."""
KEPT = 512
"""Stalls that are remembered."""

Kind = Literal["event loop", "garbage collection"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stall:
    """A time in which the event loop served nobody."""

    at: float
    """When it began, seconds on the monotonic clock."""
    seconds: float
    kind: Kind

    def to_json(self) -> dict[str, Any]:
        """The stall as a turn's report tells it."""
        return {"at": self.at, "ms": round(self.seconds * 1000, 1), "kind": self.kind}


class StallLog:
    """The stalls of a loop, from what it did when. Pure: times are passed in, seconds."""

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
        """Those that ended after `since` and not after `until`, in order."""
        # A copy: a collection may be noted by another thread.
        found = [stall for stall in self._stalls.copy() if since < stall.at + stall.seconds <= until]
        return sorted(found, key=lambda stall: stall.at)

    def _note(self, at: float, seconds: float, kind: Kind) -> None:
        if seconds >= SHORTEST:
            self._stalls.append(Stall(at=at, seconds=seconds, kind=kind))


class LoopWatch:
    """Watches one event loop and the process's collections; `of` finds that of a loop.

    Args:
        loop: the loop; call this in its thread.
        clock: seconds, monotonic.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, clock: Callable[[], float] = time.monotonic) -> None:
        self.log = StallLog()
        self._loop = weakref.ref(loop)
        self._clock = clock
        self._calls = 0
        self._collecting: float | None = None

    @classmethod
    def of(cls, loop: asyncio.AbstractEventLoop) -> "LoopWatch | None":
        """The watch of a loop, which begins with the first question; None for a loop that has no selector."""
        # asyncio tells nobody how long its callbacks took but in debug mode, which is far too slow for calls.
        selector = getattr(loop, "_selector", None)
        if selector is None:
            return None
        if loop not in _WATCHES:
            watch = _WATCHES[loop] = cls(loop)
            watch._attach(selector)
        return _WATCHES[loop]

    def between(self, since: float, until: float) -> list[dict[str, Any]]:
        """The stalls that ended after `since` and not after `until`, as a turn's report tells them."""
        return [stall.to_json() for stall in self.log.between(since, until)]

    def call_began(self) -> None:
        """A call is on; the loop is woken until as many calls are over."""
        self._calls += 1
        if self._calls == 1:
            self._tick()

    def call_ended(self) -> None:
        """A call is over."""
        self._calls -= 1

    def _tick(self) -> None:
        loop = self._loop()
        if loop is not None and self._calls > 0 and not loop.is_closed():
            loop.call_later(TICK, self._tick)

    def _attach(self, selector: Any) -> None:
        poll, clock, log = selector.select, self._clock, self.log
        woke = clock()

        def select(timeout: float | None = None) -> Any:
            nonlocal woke
            asleep = clock()
            log.worked(woke, asleep)
            ready = poll(timeout)
            woke = clock()
            log.slept(asleep, woke, timeout)
            return ready

        selector.select = select
        gc.callbacks.append(self._on_collection)
        loop = self._loop()
        if loop is not None:
            weakref.finalize(loop, _forget, self._on_collection)

    def _on_collection(self, phase: str, _info: Mapping[str, int]) -> None:
        if phase == "start":
            self._collecting = self._clock()
        elif self._collecting is not None:
            self.log.collected(self._collecting, self._clock())
            self._collecting = None


_WATCHES: "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, LoopWatch]" = weakref.WeakKeyDictionary()


def _forget(callback: Callable[[str, Mapping[str, int]], None]) -> None:
    if callback in gc.callbacks:
        gc.callbacks.remove(callback)
