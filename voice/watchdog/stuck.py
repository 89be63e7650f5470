"""Which processor of a pipeline does not take its frames any more."""

from collections.abc import Iterable

from pipecat.processors.aggregators.llm_response_universal import LLMUserAggregator
from pipecat.processors.audio.vad_processor import VADProcessor
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.services.llm_service import LLMService
from pipecat.services.stt_service import STTService

from latency.record.turn import Part

WAITING = 10
"""Frames that wait before a processor that is stuck; one that is busy has fewer."""
_PARTS: tuple[tuple[type[FrameProcessor], Part], ...] = (
    (VADProcessor, "voice detector"),
    (STTService, "recogniser"),
    (LLMUserAggregator, "turn taking"),
    (LLMService, "language model"),
)


def stuck(processors: Iterable[FrameProcessor]) -> tuple[Part, str]:
    """The first processor in front of which frames pile up: which part it is, and its name.

    Args:
        processors: in the order of the pipeline.
    """
    for processor in processors:
        # pipecat tells nobody how many frames wait.
        queue = getattr(processor, "_FrameProcessor__input_queue", None)
        if queue is not None and queue.qsize() >= WAITING:
            named: list[Part] = [part for kind, part in _PARTS if isinstance(processor, kind)]
            return named[0] if named else "processor", str(processor)
    return "processor", "a processor between the microphone and the language model"
