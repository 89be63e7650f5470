"""One thread on which every call's clauses are synthesised, a step at a time, the most urgent first."""

import asyncio
import heapq
import itertools
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from enum import IntEnum
from typing import TypeVar

from voice.queue_waits import QueueWaits

T = TypeVar("T")


class Urgency(IntEnum):
    """The order in which work is done; lower is more urgent."""

    FIRST = 0
    """A call waits in silence for this clause."""
    AHEAD = 1
    """The first clause of a speculative answer."""
    LATER = 2
    """The call is still playing earlier audio."""


class SynthesisThread:
    """Runs steps of work from many calls. Steps of equal urgency take turns, in order of arrival."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="piper")
        self._lock = threading.Lock()
        self._arrival = itertools.count()
        self._waiting: list[tuple[Urgency, int, Callable[[], None]]] = []
        self.waits = QueueWaits("synthesis")
        """How long first clauses wait for the thread."""

    async def run(self, step: Callable[[], T], urgency: Urgency) -> T:
        """Run one step. Cancelled while waiting, it never runs; cancelled while running, it completes."""
        future: Future[T] = Future()

        submitted = time.monotonic()

        def work() -> None:
            if urgency is Urgency.FIRST:
                now = time.monotonic()
                self.waits.note(now - submitted, now)
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(step())
                except Exception as error:
                    future.set_exception(error)

        with self._lock:
            heapq.heappush(self._waiting, (urgency, next(self._arrival), work))
        self._thread.submit(self._run_most_urgent)
        return await asyncio.wrap_future(future)

    async def steps(self, work: Iterator[T], urgency: Urgency) -> AsyncIterator[T]:
        """Yield the results of `work`, each step run on the thread. Closing this ends it after the current step."""
        while (result := await self.run(lambda: next(work, None), urgency)) is not None:
            yield result

    def close(self) -> None:
        """Let the thread end."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _run_most_urgent(self) -> None:
        with self._lock:
            _, _, work = heapq.heappop(self._waiting)
        work()
