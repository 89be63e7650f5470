"""Collects the garbage of a server when no call has to wait for it; for a process that enters `GarbageCollection`.

While Python's collector looks for objects that only refer to one another, nothing else runs, and it takes up to 1 µs
for each object that is alive or left. Neither Python nor pipecat has settings for what is done here:

- **The heap is frozen** once the models are loaded. Models and libraries stay for good, so that the collector need not
  walk them during calls.
- **The parts of a finished call are emptied.** A call has 2,700 objects and would leave 1,300 in cycles: with a few
  calls, collecting them takes the 10 ms that audio bears. Emptied, it leaves 200, which wait for a moment when at most
  one caller has to wait for the collector.
"""

import asyncio
import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipecat.pipeline.worker import PipelineWorker
    from pipecat.processors.frame_processor import FrameProcessor

RARELY = 1000
"""The collector walks the whole heap once in so many times that it walks its middle generation."""
RELEASE_AFTER = 0.5
"""Seconds after a call within which its tasks end."""
MOST_UNCOLLECTED = 6
"""Calls after which their remains are collected even though several others are under way."""
COLLECT_EVERY = 1.0
"""Least seconds between two collections: clients that connect and vanish would otherwise each cause one."""

EMPTIED = ("pipecat.", "voice.", "pipelines.")
"""Packages whose parts are emptied."""


@contextmanager
def importing() -> Iterator[None]:
    """While libraries are imported, garbage is not collected, and what was imported is frozen.

    Walking libraries again and again as they come takes a tenth of the start, and later 0.1 s at a time.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


class GarbageCollection:
    """Collects the garbage of calls at good moments; leaving the context leaves that to Python again.

    Args:
        loop: the loop that runs the calls; enter and leave the context in its thread.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._uncollected = 0
        self._collected = -COLLECT_EVERY
        self._collection: asyncio.TimerHandle | None = None

    def __enter__(self) -> "GarbageCollection":
        self._thresholds = gc.get_threshold()
        return self

    def __exit__(self, *_error: object) -> None:
        if self._collection is not None:
            self._collection.cancel()
        gc.set_threshold(*self._thresholds)
        gc.unfreeze()

    def freeze(self) -> None:
        """The models are loaded: what there is now is not walked again."""
        gc.collect()
        gc.freeze()
        _release_freed_memory()
        young, middle, _ = gc.get_threshold()
        gc.set_threshold(young, middle, RARELY)

    def call_ended(self, worker: "PipelineWorker", *, others: int) -> None:
        """Empty the parts of a call, and collect what is left of calls if this is a good moment.

        Args:
            worker: what ran the call, `RELEASE_AFTER` its end.
            others: how many calls are under way.
        """
        if worker.has_finished():
            empty(worker)
        self._uncollected += 1
        if self._collection is None and (others <= 1 or self._uncollected >= MOST_UNCOLLECTED):
            wait = self._collected + COLLECT_EVERY - self._loop.time()
            if wait > 0:
                self._collection = self._loop.call_later(wait, self._collect)
            else:
                self._collect()

    def _collect(self) -> None:
        self._collection, self._uncollected = None, 0
        gc.collect()
        self._collected = self._loop.time()


def empty(worker: "PipelineWorker") -> None:
    """Cut the references between the parts of a finished call, so that most go without the collector.

    A part names as `unseen` those parts of its own that the pipeline does not see. Parts of packages other than ours
    and pipecat's keep what they hold: their owner may read it after the call.
    """
    parts: list[FrameProcessor] = [worker.pipeline]
    while parts:
        part = parts.pop()
        parts += part.processors
        parts += getattr(part, "unseen", ())
        if type(part).__module__.startswith(EMPTIED):
            vars(part).clear()


def _release_freed_memory() -> None:
    """Give what loading models has freed back to the system, where the C library is glibc: 50 to 100 MB."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
