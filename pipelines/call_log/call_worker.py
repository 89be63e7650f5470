"""Runs a call's pipeline with observers that do not slow it down and fail independently.

pipecat puts each frame that a part processes into a queue for each observer. A call has a dozen parts and hundreds of
frames a second, so this would take a quarter of the event loop's work, for frames that no observer reads. pipecat also
ends an observer's task at its first error, so one odd value from a model would end the captions of a call.
"""

import asyncio
import logging
from typing import Any

from pipecat.frames.frames import InputAudioRawFrame, OutputAudioRawFrame, TTSAudioRawFrame
from pipecat.observers.base_observer import BaseObserver, FrameProcessed, FramePushed
from pipecat.pipeline.worker import PipelineWorker
from pipecat.pipeline.worker_observer import WorkerObserver

from voice.redaction import quoted
from voice.server.metrics import CallMetrics

log = logging.getLogger(__name__)


class CallObservers(WorkerObserver):
    """Passes on only the frames that observers read: no audio, and processing events only if an observer asks.

    An observer that fails misses one event, and the others miss nothing. Its error is counted, and logged once for
    each kind.

    Args:
        observers: those of the call.
        metrics: counts the events that observers miss; None to count nothing.
    """

    def __init__(self, observers: list[BaseObserver], metrics: CallMetrics | None = None) -> None:
        super().__init__(observers=observers)
        self._metrics = metrics
        self._said: set[tuple[type, ...]] = set()
        self._see_processing = any(
            type(observer).on_process_frame is not BaseObserver.on_process_frame for observer in observers
        )

    async def on_process_frame(self, data: FrameProcessed) -> None:
        """Pass on that a part processes a frame."""
        if self._see_processing:
            await super().on_process_frame(data)

    async def on_push_frame(self, data: FramePushed) -> None:
        """Pass on that a part pushes a frame."""
        frame = data.frame
        if isinstance(frame, InputAudioRawFrame) or (
            isinstance(frame, OutputAudioRawFrame) and not isinstance(frame, TTSAudioRawFrame)
        ):
            return
        await super().on_push_frame(data)

    async def _proxy_task_handler(self, queue: asyncio.Queue[Any], observer: BaseObserver) -> None:
        """Hand events to an observer; pipecat's own handler ends at an error, so it is started again after each."""
        while True:
            try:
                await super()._proxy_task_handler(queue, observer)
                return
            except Exception as error:
                # An observer may be ours, pipecat's or the user's, and may raise anything.
                self._missed(observer, error)
            if not self._proxies or observer not in self._proxies:
                return

    def _missed(self, observer: BaseObserver, error: Exception) -> None:
        if self._metrics:
            self._metrics.missed()
        kind = (type(observer), type(error))
        if kind in self._said:
            return
        self._said.add(kind)
        what = quoted(f"{type(error).__name__}: {error}")
        log.warning(
            "%s failed on an event (%s); further events like it are only counted", type(observer).__name__, what
        )
        log.debug("where it failed", exc_info=error)


class CallWorker(PipelineWorker):
    """pipecat's worker with `CallObservers`; it takes the same arguments and the metrics of the call."""

    def __init__(self, *args: Any, metrics: CallMetrics | None = None, **options: Any) -> None:
        super().__init__(*args, **options)
        self._observer = CallObservers(self._observer._observers, metrics)
