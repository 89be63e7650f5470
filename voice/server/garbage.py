"""The memory of calls that are over, freed without long pauses in those that go on.

While Python's collector looks for objects that only refer to one another, nothing else runs. It takes up to 1 µs for
each object that is alive; a call has 2,700 and leaves 1,300: with a few calls, that is the 10 ms that audio bears.
"""

import gc

from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.frame_processor import FrameProcessor

RARELY = 1000
"""The whole memory is looked through once in so many times that its middle generation is."""


def keep_all() -> None:
    """All there is now, models and libraries, is kept for good: the collector need not walk it during calls."""
    gc.collect()
    gc.freeze()
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, RARELY)


def take_apart(worker: PipelineWorker) -> None:
    """Cut what the parts of a call that is over hold of one another, so that most go without the collector."""
    parts: list[FrameProcessor] = [worker.pipeline]
    while parts:
        part = parts.pop()
        parts += part.processors
        vars(part).clear()
