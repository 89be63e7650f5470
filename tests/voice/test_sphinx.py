import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import psutil
import pytest
from pipecat.frames.frames import (
    CancelFrame,
    EndFrame,
    ErrorFrame,
    Frame,
    InputAudioRawFrame,
    InterimTranscriptionFrame,
    STTMetadataFrame,
    STTMuteFrame,
    TranscriptionFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.tests.utils import run_test
from pipecat.workers.runner import WorkerRunner

from voice.asr.frames import NothingHeardFrame, RecogniserFailedFrame
from voice.asr.language_model import LanguageModel
from voice.asr.sphinx import SphinxPool, SphinxSTTService

Speak = Callable[[str], bytes]
CHUNK = 640


@pytest.fixture
async def pool() -> AsyncIterator[SphinxPool]:
    pool = SphinxPool(spare=1)
    await pool.start()
    yield pool
    await pool.close()
    assert workers() == set()


def workers() -> set[int]:
    return {child.pid for child in psutil.Process().children() if "voice.asr.sphinx_worker" in child.cmdline()}


def audio(pcm: bytes) -> list[Frame]:
    return [
        InputAudioRawFrame(audio=pcm[at : at + CHUNK], sample_rate=16000, num_channels=1)
        for at in range(0, len(pcm), CHUNK)
    ]


def utterance(pcm: bytes) -> list[Frame]:
    """What a detector that lags by 0.4 s would make of half a second of silence, speech and silence."""
    frames = audio(pcm)
    lag = 45
    return [*frames[:lag], VADUserStartedSpeakingFrame(), *frames[lag:], VADUserStoppedSpeakingFrame()]


class Ear(FrameProcessor):
    """Keeps the frames that pass one way."""

    def __init__(self, direction: FrameDirection) -> None:
        super().__init__()
        self.frames: list[Frame] = []
        self._which = direction

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if direction == self._which:
            self.frames.append(frame)
        await self.push_frame(frame, direction)

    def of(self, *kinds: type[Frame]) -> list[Any]:
        return [frame for frame in self.frames if isinstance(frame, kinds)]


class Call:
    """A pipeline of the recogniser alone, running."""

    def __init__(self, pool: SphinxPool) -> None:
        self.service = SphinxSTTService(pool=pool)
        self.above, self.below = Ear(FrameDirection.UPSTREAM), Ear(FrameDirection.DOWNSTREAM)
        self.worker = PipelineWorker(
            Pipeline([self.above, self.service, self.below]), cancel_on_idle_timeout=False, enable_rtvi=False
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
        async with asyncio.timeout(30):
            while len(found := self.below.of(*kinds)) < count:
                await asyncio.sleep(0.01)
        return found


async def test_interim_texts_come_while_the_user_speaks_and_one_final_text_after(
    pool: SphinxPool, speak: Speak
) -> None:
    *speech, stop = utterance(speak("what time is it"))
    async with Call(pool) as call:
        await call.send(*speech)
        await call.wait_for(InterimTranscriptionFrame)
        await asyncio.sleep(1)
        await call.send(stop)
        (final,) = await call.wait_for(TranscriptionFrame)
        assert final.finalized
        assert {"time", "it"} <= set(final.text.split())
        assert isinstance(call.below.of(InterimTranscriptionFrame, TranscriptionFrame)[-1], TranscriptionFrame)


async def test_the_end_of_a_call_waits_for_the_text_of_its_last_utterance(pool: SphinxPool, speak: Speak) -> None:
    sent = utterance(speak("what time is it"))
    down, _ = await run_test(SphinxSTTService(pool=pool), frames_to_send=sent)
    (final,) = (frame for frame in down if isinstance(frame, TranscriptionFrame))
    assert final.finalized
    passed = [frame.audio for frame in down if isinstance(frame, InputAudioRawFrame)]
    assert passed == [frame.audio for frame in sent if isinstance(frame, InputAudioRawFrame)]
    (metadata,) = (frame for frame in down if isinstance(frame, STTMetadataFrame))
    assert 0.2 < metadata.ttfs_p99_latency < 1


async def test_the_beginning_that_the_detector_missed_is_recognised(pool: SphinxPool, speak: Speak) -> None:
    async with Call(pool) as call:
        frames = utterance(speak("what time is it"))
        await call.send(*frames)
        (heard,) = await call.wait_for(TranscriptionFrame)
        assert heard.text.split()[0] == "what"


async def test_silence_is_nothing_heard_and_the_next_utterance_works(pool: SphinxPool, speak: Speak) -> None:
    async with Call(pool) as call:
        await call.send(*utterance(bytes(32000)))
        await call.wait_for(NothingHeardFrame)
        assert not call.below.of(TranscriptionFrame)
        await call.send(*utterance(speak("what time is it")))
        (heard,) = await call.wait_for(TranscriptionFrame)
        assert "time" in heard.text
        assert len(call.below.of(NothingHeardFrame)) == 1


async def test_speech_that_goes_on_makes_only_its_last_text_final(pool: SphinxPool, speak: Speak) -> None:
    async with Call(pool) as call:
        await call.send(*utterance(speak("what time is it")), *utterance(speak("good morning")))
        first, second = await call.wait_for(TranscriptionFrame, count=2)
        assert "time" in first.text
        assert "morning" in second.text
        assert not first.finalized
        assert second.finalized
        assert isinstance(call.below.of(InterimTranscriptionFrame, TranscriptionFrame)[-1], TranscriptionFrame)


async def test_a_worker_killed_mid_utterance_fails_that_turn_and_not_the_next(pool: SphinxPool, speak: Speak) -> None:
    async with Call(pool) as call:
        frames = utterance(speak("what time is it"))
        await call.send(*frames[:60])
        await call.wait_for(VADUserStartedSpeakingFrame)
        await asyncio.sleep(0.2)
        before = workers()
        # The caller's worker is the one that has worked.
        busy = max(before, key=lambda pid: psutil.Process(pid).cpu_times().user)
        os.kill(busy, signal.SIGKILL)
        (failed,) = await call.wait_for(RecogniserFailedFrame)
        assert "signal 9" in failed.reason
        (error,) = call.above.of(ErrorFrame)
        assert not error.category.is_permanent
        assert call.service.is_usable
        await call.send(*frames[60:], *utterance(speak("good morning")))
        (heard,) = await call.wait_for(TranscriptionFrame)
        assert "morning" in heard.text
        assert heard.finalized
        assert len(call.below.of(RecogniserFailedFrame)) == 1
        assert busy not in workers()


async def test_a_worker_killed_between_utterances_fails_no_turn(pool: SphinxPool, speak: Speak) -> None:
    async with Call(pool) as call:
        await call.send(*utterance(speak("what time is it")))
        await call.wait_for(TranscriptionFrame)
        for pid in workers():
            os.kill(pid, signal.SIGKILL)
        await call.send(*utterance(speak("good morning")))
        _, heard = await call.wait_for(TranscriptionFrame, RecogniserFailedFrame, count=2)
        # Speech that begins while the death is not yet known may be lost with the dead worker, but never silently.
        if isinstance(heard, RecogniserFailedFrame):
            await call.send(*utterance(speak("good morning")))
            *_, heard = await call.wait_for(TranscriptionFrame, count=2)
        assert "morning" in heard.text


async def test_two_calls_do_not_mix(pool: SphinxPool, speak: Speak) -> None:
    async with Call(pool) as one, Call(pool) as other:
        for a, b in zip(utterance(speak("what time is it")), utterance(speak("good morning")), strict=False):
            await one.send(a)
            await other.send(b)
        await one.send(VADUserStoppedSpeakingFrame())
        await other.send(VADUserStoppedSpeakingFrame())
        (first,), (second,) = await one.wait_for(TranscriptionFrame), await other.wait_for(TranscriptionFrame)
        assert "time" in first.text
        assert "morning" in second.text


async def test_muting_abandons_the_utterance(pool: SphinxPool, speak: Speak) -> None:
    async with Call(pool) as call:
        frames = utterance(speak("what time is it"))
        await call.send(*frames[:80], STTMuteFrame(mute=True), *frames[80:], *utterance(speak("tell me a joke")))
        await call.wait_for(VADUserStoppedSpeakingFrame, count=2)
        await call.send(STTMuteFrame(mute=False), *utterance(speak("good morning")))
        (heard,) = await call.wait_for(TranscriptionFrame)
        assert "morning" in heard.text
        assert not call.below.of(NothingHeardFrame, RecogniserFailedFrame)


@pytest.mark.parametrize("spoken", [0, 10, 60, 1000], ids=["at once", "in silence", "in speech", "after speech"])
async def test_a_call_cancelled_at_any_time_gives_its_worker_back(pool: SphinxPool, speak: Speak, spoken: int) -> None:
    before = asyncio.all_tasks()
    call = Call(pool)
    async with call:
        await call.send(*utterance(speak("what time is it"))[:spoken])
        await call.send(CancelFrame())
    async with asyncio.timeout(30):
        while asyncio.all_tasks() != before or pool.idle != 1:
            await asyncio.sleep(0.01)
    assert len(workers()) == 1
    async with Call(pool) as again:
        await again.send(*utterance(speak("good morning")))
        (heard,) = await again.wait_for(TranscriptionFrame)
        assert "morning" in heard.text


async def test_a_recogniser_that_cannot_start_makes_the_service_unusable(tmp_path: Path) -> None:
    broken = LanguageModel(name="broken", path=tmp_path / "none", sentences=1, skipped=0)
    pool = SphinxPool(language_model=broken)
    async with Call(pool) as call:
        (failed,) = await call.wait_for(RecogniserFailedFrame)
        assert "did not start" in failed.reason
        assert not call.service.is_usable
        await call.send(*utterance(bytes(32000)))
    await pool.close()
