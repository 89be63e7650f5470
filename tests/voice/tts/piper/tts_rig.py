"""A call's speech: TTS, a loudspeaker that plays in real time, and the assistant's side of a context."""

import asyncio
import itertools
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
from pipecat.frames.frames import (
    Frame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    OutputAudioRawFrame,
    StartFrame,
    TTSAudioRawFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMAssistantAggregator
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.transports.base_output import BaseOutputTransport
from pipecat.transports.base_transport import TransportParams
from pipecat.workers.runner import WorkerRunner

from voice.frames import AnswerTextFrame
from voice.llm.answer.clauses import ClauseSplitter
from voice.tts.piper.pieces import Piece
from voice.tts.piper.service import PiperTTSService
from voice.tts.piper.voice import LEAD_LATER, Voice, embedded_voice

ANSWER = ("It is ", "ten past four. ", "Anything else?")


def answer_texts(texts: Sequence[str]) -> list[AnswerTextFrame]:
    """An answer as it leaves a language model of ours."""
    splitter = ClauseSplitter()
    frames = [AnswerTextFrame(text, clauses=tuple(splitter.feed(text))) for text in texts]
    if rest := splitter.flush():
        frames[-1].clauses += (rest,)
    return frames


class GatedVoice(Voice):
    """A voice that records what it does, and waits while its gate is closed."""

    def __init__(self, path: Path | None = None) -> None:
        super().__init__(path or embedded_voice())
        self.asked: list[str] = []
        self.made: list[Piece] = []
        self.steps = 0
        self.held_from = 0
        """The step of a clause from which on the gate matters."""
        self.gate = threading.Event()
        self.gate.set()

    def pieces(self, text: str, *, lead: float = LEAD_LATER) -> Iterator[list[Piece]]:
        self.asked.append(text)
        steps = super().pieces(text, lead=lead)
        for step in itertools.count():
            assert step < self.held_from or self.gate.wait(30)
            if (pieces := next(steps, None)) is None:
                return
            self.steps += 1
            self.made += pieces
            yield pieces


class Loudspeaker(BaseOutputTransport):
    """Plays in real time."""

    def __init__(self, sample_rate: int) -> None:
        super().__init__(
            TransportParams(audio_out_enabled=True, audio_out_sample_rate=sample_rate, audio_out_end_silence_secs=0)
        )
        self.played = 0
        """Samples."""
        self.sound = b""

    async def start(self, frame: StartFrame) -> None:
        await super().start(frame)
        await self.set_transport_ready(frame)

    async def write_audio_frame(self, frame: OutputAudioRawFrame) -> bool:
        self.played += frame.num_frames
        self.sound += frame.audio
        await asyncio.sleep(frame.num_frames / frame.sample_rate)
        return True


class Tap(FrameProcessor):
    """Keeps what passes; `until` waits for a kind of frame."""

    def __init__(self) -> None:
        super().__init__()
        self.frames: list[Frame] = []
        self._news = asyncio.Event()

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if direction is FrameDirection.DOWNSTREAM:
            self.frames.append(frame)
            self._news.set()
        await self.push_frame(frame, direction)

    async def until(self, kind: type[Frame], count: int = 1) -> None:
        async with asyncio.timeout(30):
            while len(self.of(kind)) < count:
                self._news.clear()
                await self._news.wait()

    def of(self, kind: type[Frame]) -> list[Frame]:
        return [frame for frame in self.frames if isinstance(frame, kind)]


class Call:
    """TTS, loudspeaker and the assistant's side of a context, as in a call's pipeline."""

    def __init__(self, voice: Voice) -> None:
        self.context = LLMContext()
        self.tts = PiperTTSService(voice)
        self.spoken, self.out = Tap(), Tap()
        self.loudspeaker = Loudspeaker(voice.sample_rate)
        self.worker = PipelineWorker(
            Pipeline([self.tts, self.spoken, self.loudspeaker, self.out, LLMAssistantAggregator(self.context)]),
            params=PipelineParams(audio_out_sample_rate=voice.sample_rate),
            cancel_on_idle_timeout=False,
        )

    async def say(self, *frames: Frame) -> None:
        for frame in frames:
            await self.worker.queue_frame(frame)

    async def answer(self, texts: Sequence[str] = ANSWER) -> None:
        await self.say(LLMFullResponseStartFrame(), *answer_texts(texts), LLMFullResponseEndFrame())


@asynccontextmanager
async def calling(voice: Voice) -> AsyncIterator[Call]:
    call = Call(voice)
    started = asyncio.Event()

    @call.worker.event_handler("on_pipeline_started")
    async def on_started(worker: PipelineWorker, frame: StartFrame) -> None:
        started.set()

    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(call.worker)
    running = asyncio.create_task(runner.run())
    try:
        async with asyncio.timeout(30):
            await started.wait()
        yield call
        await call.worker.stop_when_done()
        async with asyncio.timeout(30):
            await running
    finally:
        await call.worker.cancel()
        await running


def audio_of(frames: list[Frame], context: str | None) -> np.ndarray:
    sound = b"".join(f.audio for f in frames if isinstance(f, TTSAudioRawFrame) and f.context_id == context)
    return np.frombuffer(sound, np.int16)
