"""pipecat's own WebSocket client, in a pipeline of its own, talks to the server and is understood."""

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from pipecat.frames.frames import (
    Frame,
    InputAudioRawFrame,
    InputTransportMessageFrame,
    InterruptionFrame,
    OutputAudioRawFrame,
    OutputTransportMessageUrgentFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.serializers.protobuf import ProtobufFrameSerializer
from pipecat.transports.websocket.client import WebsocketClientParams, WebsocketClientTransport
from pipecat.workers.runner import WorkerRunner

from tests.pipelines.server_process import ServerProcess
from voice.tts.piper.voice import Voice, embedded_voice

ROOT = Path(__file__).resolve().parents[3]
IN_RATE = 16000
LONGEST_CALL = 20.0
READY = {
    "label": "rtvi-ai",
    "type": "client-ready",
    "id": "ready",
    "data": {"version": "2.0.0", "about": {"library": "pipecat-test"}},
}


class Ear(FrameProcessor):
    """Keeps what the server sends: audio and RTVI messages."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[dict[str, Any]] = []
        self.audio: list[InputAudioRawFrame] = []
        self._news = asyncio.Event()

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, InputAudioRawFrame):
            self.audio.append(frame)
        elif isinstance(frame, InputTransportMessageFrame) and direction is FrameDirection.DOWNSTREAM:
            self.messages.append(frame.message)
            self._news.set()
        elif not isinstance(frame, InterruptionFrame):
            # An interruption would silence the microphone too, which is this pipeline's output.
            await self.push_frame(frame, direction)

    def of(self, kind: str) -> list[dict[str, Any]]:
        """The data of all messages of a type so far."""
        return [message.get("data") or {} for message in self.messages if message["type"] == kind]

    async def until(self, kind: str) -> None:
        """Wait for a message of a type."""
        while not self.of(kind):
            self._news.clear()
            await self._news.wait()


async def call(url: str, recording: Path) -> Ear:
    """Say `recording` and listen until the bot has answered."""
    params = WebsocketClientParams(
        audio_in_enabled=True,
        audio_out_enabled=True,
        audio_out_sample_rate=IN_RATE,
        add_wav_header=False,
        serializer=ProtobufFrameSerializer(),
    )
    transport = WebsocketClientTransport(url, params)
    ear = Ear()
    worker = PipelineWorker(
        Pipeline([transport.input(), ear, transport.output()]),
        params=PipelineParams(audio_out_sample_rate=IN_RATE),
        enable_rtvi=False,
    )

    async def talk() -> None:
        speech, rate = soundfile.read(recording, dtype="int16")
        assert rate == IN_RATE
        await worker.queue_frame(OutputTransportMessageUrgentFrame(READY))
        await ear.until("bot-ready")
        # The transport paces what it sends: this is real time.
        quiet = np.zeros(8 * IN_RATE, np.int16)
        await worker.queue_frame(OutputAudioRawFrame(np.concatenate([speech, quiet]).tobytes(), IN_RATE, 1))
        await ear.until("bot-stopped-speaking")
        await worker.cancel()

    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    async with asyncio.timeout(LONGEST_CALL), asyncio.TaskGroup() as tasks:
        tasks.create_task(runner.run())
        tasks.create_task(talk())
    return ear


async def test_pipecats_client_asks_and_is_answered_at_24_khz(server: ServerProcess) -> None:
    ear = await call(server.url, ROOT / "samples" / "commands" / "01.wav")
    (ready,) = ear.of("bot-ready")
    assert ready["version"]
    final = [said["text"] for said in ear.of("user-transcription") if said["final"]]
    assert final == ["what time is it"]
    spoken = " ".join(output["text"] for output in ear.of("bot-output") if output["spoken_status"] == "completed")
    assert spoken.startswith("It is ")
    assert ear.of("bot-started-speaking")

    assert {(frame.sample_rate, frame.num_channels) for frame in ear.audio} == {(24000, 1)}
    audio = np.frombuffer(b"".join(frame.audio for frame in ear.audio), np.int16)
    assert abs(audio).max() > 1000
    # Audio that is only called 24 kHz would last two thirds as long.
    expected = len(Voice(embedded_voice()).synthesize(spoken)) / IN_RATE
    assert len(audio) / 24000 == pytest.approx(expected, rel=0.1)
