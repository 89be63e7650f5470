"""Observers of a call see what they look at, and no audio that every part hands on."""

import asyncio

from pipecat.frames.frames import (
    Frame,
    InputAudioRawFrame,
    OutputAudioRawFrame,
    TextFrame,
    TTSAudioRawFrame,
)
from pipecat.observers.base_observer import BaseObserver, FrameProcessed, FramePushed
from pipecat.processors.filters.identity_filter import IdentityFilter
from pipecat.processors.frame_processor import FrameDirection
from pipecat.utils.asyncio.task_manager import TaskManager, TaskManagerParams

from pipelines.serving.call_worker import CallObservers


class Pushes(BaseObserver):
    def __init__(self) -> None:
        super().__init__(observe_every_push=False)
        self.seen: list[type[Frame]] = []

    async def on_push_frame(self, data: FramePushed) -> None:
        self.seen.append(type(data.frame))


class Processing(Pushes):
    async def on_process_frame(self, data: FrameProcessed) -> None:
        self.seen.append(type(data.frame))


async def seen_by(observer: Pushes, frames: list[Frame]) -> list[type[Frame]]:
    """The frames that the observer sees of those that a part processes and pushes."""
    manager, part = TaskManager(), IdentityFilter()
    manager.setup(TaskManagerParams(loop=asyncio.get_running_loop()))
    observers = CallObservers([observer])
    await observers.setup(manager)
    down = FrameDirection.DOWNSTREAM
    for frame in frames:
        await observers.on_process_frame(FrameProcessed(processor=part, frame=frame, direction=down, timestamp=0))
        await observers.on_push_frame(
            FramePushed(source=part, destination=part, frame=frame, direction=down, timestamp=0)
        )
    await asyncio.sleep(0.05)
    await observers.cleanup()
    return observer.seen


def frames() -> list[Frame]:
    sound = {"audio": bytes(640), "sample_rate": 16000, "num_channels": 1}
    return [InputAudioRawFrame(**sound), OutputAudioRawFrame(**sound), TTSAudioRawFrame(**sound), TextFrame("hello")]


async def test_audio_that_is_received_or_sent_is_not_observed() -> None:
    assert await seen_by(Pushes(), frames()) == [TTSAudioRawFrame, TextFrame]


async def test_an_observer_of_processing_is_told_of_it() -> None:
    text: list[Frame] = [TextFrame("hello")]
    assert await seen_by(Processing(), text) == [TextFrame, TextFrame]
