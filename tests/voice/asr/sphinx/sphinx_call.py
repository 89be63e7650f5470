"""A call's recogniser in a pipeline of its own, fed by the frames of a scripted detector."""

import asyncio
import contextlib
import time
from types import TracebackType
from typing import Any

import psutil
from pipecat.frames.frames import (
    CancelFrame,
    EndFrame,
    Frame,
    InputAudioRawFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.workers.runner import WorkerRunner

from voice.asr.sphinx.service import SphinxPool, SphinxSTTService

CHUNK = 640


def workers() -> set[int]:
    """The process ids of this process's recognisers; not those of a server that another test runs."""
    found = set()
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.NoSuchProcess):  # ended just now
            if "voice.asr.sphinx.worker" in child.cmdline():
                found.add(child.pid)
    return found


def oldest() -> int:
    """The process id of the worker that was made first: the only caller's, not the spare one."""
    return min(workers(), key=lambda pid: (psutil.Process(pid).create_time(), pid))


def audio(pcm: bytes) -> list[Frame]:
    """Audio in frames of 20 ms."""
    return [
        InputAudioRawFrame(audio=pcm[at : at + CHUNK], sample_rate=16000, num_channels=1)
        for at in range(0, len(pcm), CHUNK)
    ]


def utterance(pcm: bytes) -> list[Frame]:
    """Half a second of silence, speech and silence, with the frames of a detector that lags by 0.4 s."""
    frames = audio(pcm)
    lag = 45
    return [*frames[:lag], VADUserStartedSpeakingFrame(), *frames[lag:], VADUserStoppedSpeakingFrame()]


class Ear(FrameProcessor):
    """Keeps the frames that pass in one direction, and when they came."""

    def __init__(self, direction: FrameDirection) -> None:
        super().__init__()
        self.frames: list[Frame] = []
        self.times: dict[int, float] = {}
        self._which = direction

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if direction == self._which:
            self.frames.append(frame)
            self.times[frame.id] = time.monotonic()
        await self.push_frame(frame, direction)

    def of(self, *kinds: type[Frame]) -> list[Any]:
        return [frame for frame in self.frames if isinstance(frame, kinds)]


class Call:
    """A running pipeline with the recogniser; the processors `before` are between the input and it.

    Its timeouts are long, because other programs may delay the workers.
    """

    def __init__(self, pool: SphinxPool, *before: FrameProcessor, text_timeout: float = 60.0) -> None:
        self.service = SphinxSTTService(pool=pool, text_timeout=text_timeout)
        self.above, self.below = Ear(FrameDirection.UPSTREAM), Ear(FrameDirection.DOWNSTREAM)
        self.worker = PipelineWorker(
            Pipeline([self.above, *before, self.service, self.below]), cancel_on_idle_timeout=False, enable_rtvi=False
        )

    async def __aenter__(self) -> "Call":
        runner = WorkerRunner(handle_sigint=False)
        await runner.add_workers(self.worker)
        self.running = asyncio.create_task(runner.run())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.worker.queue_frame(CancelFrame() if error else EndFrame())
        await self.running

    async def send(self, *frames: Frame) -> None:
        for frame in frames:
            await self.worker.queue_frame(frame)

    async def wait_for(self, *kinds: type[Frame], count: int = 1) -> list[Any]:
        async with asyncio.timeout(60):
            while len(found := self.below.of(*kinds)) < count:
                await asyncio.sleep(0.01)
        return found
