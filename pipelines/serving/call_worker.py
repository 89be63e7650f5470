"""Runs a call's pipeline without telling observers of every frame of audio that every part handles.

pipecat puts each frame that a part processes into a queue for each observer, and a call has a dozen parts and hundreds
of frames a second: a quarter of the event loop's work for frames that no observer looks at.
"""

from typing import Any

from pipecat.frames.frames import InputAudioRawFrame, OutputAudioRawFrame, TTSAudioRawFrame
from pipecat.observers.base_observer import BaseObserver, FrameProcessed, FramePushed
from pipecat.pipeline.worker import PipelineWorker
from pipecat.pipeline.worker_observer import WorkerObserver


class CallObservers(WorkerObserver):
    """Passes on what observers look at: not the audio that is received and sent, and no processing unless one asks."""

    def __init__(self, observers: list[BaseObserver]) -> None:
        super().__init__(observers=observers)
        self._see_processing = any(
            type(observer).on_process_frame is not BaseObserver.on_process_frame for observer in observers
        )

    async def on_process_frame(self, data: FrameProcessed) -> None:
        """A part handles a frame."""
        if self._see_processing:
            await super().on_process_frame(data)

    async def on_push_frame(self, data: FramePushed) -> None:
        """A part hands a frame on."""
        frame = data.frame
        if isinstance(frame, InputAudioRawFrame) or (
            isinstance(frame, OutputAudioRawFrame) and not isinstance(frame, TTSAudioRawFrame)
        ):
            return
        await super().on_push_frame(data)


class CallWorker(PipelineWorker):
    """pipecat's worker with `CallObservers`; takes the same arguments."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._observer = CallObservers(self._observer._observers)
