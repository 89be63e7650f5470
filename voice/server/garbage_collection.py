"""Collects a server's garbage while no call has to wait for it; active inside `GarbageCollection`.

Python's collector stops everything else while it looks for reference cycles, for up to 1 µs per live or dead object.
Neither Python nor pipecat has settings for this:

- **The heap is frozen** once the models are loaded. Models and libraries are never freed, so the collector need not
  walk them during calls.
- **The parts of a finished call are emptied.** A call has 2,700 objects and would leave 1,300 in cycles: after a few
  calls, collecting them takes 10 ms, the most that audio tolerates. An emptied call leaves 200, which are collected
  when at most one other call is under way.
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
"""Collections of the middle generation between two walks of the whole heap."""
RELEASE_AFTER = 0.5
"""Seconds that the tasks of a call may take to end after it."""
MOST_UNCOLLECTED = 6
"""Finished calls after which the garbage is collected even if several calls are under way."""
COLLECT_EVERY = 1.0
"""The least seconds between two collections; otherwise each client that connects and vanishes would cause one."""

EMPTIED = ("pipecat.", "voice.", "pipelines.")
"""Packages whose parts are emptied."""


@contextmanager
def importing() -> Iterator[None]:
    """Collect no garbage while libraries are imported, and freeze the imported objects.

    Walking the libraries repeatedly takes a tenth of the start-up time, and later 0.1 s at a time.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


class GarbageCollection:
    """Collects the garbage of calls at good moments; on leaving the context, Python takes over again.

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
        """Exclude all present objects from collection; called once the models are loaded."""
        gc.collect()
        gc.freeze()
        _release_freed_memory()
        young, middle, _ = gc.get_threshold()
        gc.set_threshold(young, middle, RARELY)

    def call_ended(self, worker: "PipelineWorker", *, others: int) -> None:
        """Empty the parts of a call, and collect the garbage of calls if this is a good moment.

        Args:
            worker: the call's worker, `RELEASE_AFTER` seconds after its end.
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
    """Cut the references between the parts of a finished call, so that most are freed without the collector.

    A part lists in `unseen` its own parts that the pipeline does not know. Parts from other packages than ours and
    pipecat's keep their contents: their owner may read them after the call.
    """
    parts: list[FrameProcessor] = [worker.pipeline]
    while parts:
        part = parts.pop()
        parts += part.processors
        parts += getattr(part, "unseen", ())
        if type(part).__module__.startswith(EMPTIED):
            vars(part).clear()


def _release_freed_memory() -> None:
    """Return the memory freed by loading models to the system (glibc only): 50 to 100 MB."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
