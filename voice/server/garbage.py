"""The memory of calls that are over, freed without long pauses in those that go on.

While Python's collector looks for objects that only refer to one another, nothing else runs. It takes up to 1 µs for
each object that is alive or left. A call has 2,700 and would leave 1,300: with a few calls, that is the 10 ms that
audio bears. Taken apart it leaves 200, which wait for a moment when at most one caller has to wait for the collector.
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
    """Cut what the parts of a call that is over hold of one another, so that most go without the collector.

    Parts that its pipeline does not see are those that a part names as `unseen`.
    """
    parts: list[FrameProcessor] = [worker.pipeline]
    while parts:
        part = parts.pop()
        parts += part.processors
        parts += getattr(part, "unseen", ())
        vars(part).clear()
