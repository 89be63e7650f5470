"""One thread that synthesises the clauses of all calls, a step at a time, the most urgent first."""

import asyncio
import itertools
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeVar

from voice.queue_waits import QueueWaits

T = TypeVar("T")


class Urgency(IntEnum):
    """The priority of work, by how soon a listener would notice a delay; lower is more urgent."""

    PROMISED = 0
    """The call plays an answer that is about to run out of audio."""
    FIRST = 1
    """A call waits in silence for this clause."""
    LATER = 2
    """The call still has earlier audio to play."""
    AHEAD = 3
    """The first clause of a speculative answer, which may never be heard."""


Urgent = Urgency | Callable[[], Urgency]
"""An urgency, or a function that returns it whenever the thread is free, called in that thread."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    urgent: Urgent
    arrival: int
    work: Callable[[], None]

    @property
    def order(self) -> tuple[Urgency, int]:
        return self.urgent if isinstance(self.urgent, Urgency) else self.urgent(), self.arrival


class SynthesisThread:
    """Runs steps of work from many calls. Steps of equal urgency take turns, in order of arrival.

    Each call has at most one clause of an answer and one speculative clause here, so the number of calls bounds the
    queue.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="piper")
        self._lock = threading.Lock()
        self._arrival = itertools.count()
        self._waiting: list[_Waiting] = []
        self.waits = QueueWaits("synthesis")
        """The waits of first clauses for the thread."""

    async def run(self, step: Callable[[], T], urgent: Urgent) -> T:
        """Run one step. Cancelled while waiting, it never runs; cancelled while running, it completes."""
        future: Future[T] = Future()
        submitted = time.monotonic()

        def work() -> None:
            if urgent is Urgency.FIRST:
                now = time.monotonic()
                self.waits.note(now - submitted, now)
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(step())
                except Exception as error:
                    future.set_exception(error)

        with self._lock:
            self._waiting.append(_Waiting(urgent, next(self._arrival), work))
        self._thread.submit(self._run_most_urgent)
        return await asyncio.wrap_future(future)

    async def steps(self, work: Iterator[T], urgent: Urgent) -> AsyncIterator[T]:
        """Yield the results of `work`, each step run on the thread. Closing this ends it after the current step."""
        while (result := await self.run(lambda: next(work, None), urgent)) is not None:
            yield result

    def close(self) -> None:
        """Let the thread end."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _run_most_urgent(self) -> None:
        with self._lock:
            chosen = min(self._waiting, key=lambda one: one.order)
            self._waiting.remove(chosen)
        chosen.work()
