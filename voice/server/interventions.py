"""What a server changes in its interpreter so that calls do not wait; only a process that enters `Interventions` does.

Neither Python's collector nor asyncio nor pipecat offers these as settings, so this module reaches into their objects.

- **The heap is frozen** once the models are loaded. While the collector looks for objects that only refer to one
  another, nothing else runs, and it takes up to 1 µs for each object that is alive or left. Models and libraries stay
  for good, so it need not walk them during calls.
- **The parts of a finished call are emptied.** A call has 2,700 objects and would leave 1,300 in cycles: with a few
  calls, collecting them takes the 10 ms that audio bears. Emptied, it leaves 200, which wait for a moment when at most
  one caller has to wait for the collector.
- **The event loop's selector is wrapped** so that `LoopWatch` can measure stalls. asyncio reports how long its
  callbacks took in debug mode only, which is far too slow for calls.
"""

import asyncio
import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from voice.server.event_loop import LoopWatch

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


class Interventions:
    """All interventions on behalf of one event loop; leaving the context takes them back.

    Args:
        loop: the loop that runs the calls; enter and leave the context in its thread.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._watch: LoopWatch | None = None
        self._uncollected = 0
        self._collected = -COLLECT_EVERY
        self._collection: asyncio.TimerHandle | None = None

    def __enter__(self) -> "Interventions":
        self._thresholds = gc.get_threshold()
        return self

    def __exit__(self, *_error: object) -> None:
        if self._collection is not None:
            self._collection.cancel()
        if self._watch:
            del self._loop._selector.select  # type: ignore[attr-defined]
            self._watch.close()
        gc.set_threshold(*self._thresholds)
        gc.unfreeze()

    def models_loaded(self) -> None:
        """Freeze the heap and begin to watch the loop, unless it has no selector."""
        gc.collect()
        gc.freeze()
        _release_freed_memory()
        young, middle, _ = gc.get_threshold()
        gc.set_threshold(young, middle, RARELY)
        selector = getattr(self._loop, "_selector", None)
        if selector is not None:
            self._watch = LoopWatch(self._loop)
            selector.select = self._watch.timed(selector.select)

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
