"""Agents that are not ours, on real sockets: each answers a turn after hearing half a second of silence."""

import asyncio
import audioop
import base64
import json
import socket as sockets
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
import uvicorn
from fastapi import FastAPI, WebSocket
from pipecat.frames.frames import (
    Frame,
    InputAudioRawFrame,
    InterruptionFrame,
    OutputAudioRawFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.serializers.twilio import TwilioFrameSerializer
from pipecat.transports.websocket.fastapi import FastAPIWebsocketParams, FastAPIWebsocketTransport
from pipecat.workers.runner import WorkerRunner
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from latency.selftest import synthetic
from voice.client.call.agent_call import AgentCall
from voice.client.sound.pcm import Pcm
from voice.wire.framing import AudioPacket, Incoming

SILENCE = 0.5
"""Seconds after a turn's last loud sample until it is answered."""
Handler = Callable[[ServerConnection], Awaitable[None]]


def answer(rate: int, seconds: float = 0.8) -> Pcm:
    """What the agents say."""
    sound = synthetic.voice(seconds, rate, np.random.default_rng(5), pitch=110)
    return np.round(sound * 32767).astype(np.int16)


class Listening:
    """Hears the caller's audio, and says when a turn is to be answered. Counts samples, so no clock is involved."""

    def __init__(self, rate: int) -> None:
        self.heard = np.zeros(0, np.int16)
        self._rate = rate
        self._loud: int | None = None

    def hear(self, pcm: Pcm) -> bool:
        self.heard = np.append(self.heard, pcm)
        if np.abs(pcm.astype(int)).max(initial=0) > 1000:
            self._loud = len(self.heard)
        is_due = self._loud is not None and len(self.heard) - self._loud >= SILENCE * self._rate
        if is_due:
            self._loud = None
        return is_due


@contextmanager
def serving(handler: Handler, **how: Any) -> Iterator[str]:
    """A WebSocket server in a thread; its address."""
    loop = asyncio.new_event_loop()
    began: asyncio.Future[int] = loop.create_future()
    ended = loop.create_future()

    async def handle(socket: ServerConnection) -> None:
        with suppress(ConnectionClosed):
            await handler(socket)

    async def run() -> None:
        async with serve(handle, "127.0.0.1", 0, compression=None, **how) as server:
            began.set_result(server.sockets[0].getsockname()[1])
            started.set()
            await ended

    started = threading.Event()
    thread = threading.Thread(target=lambda: loop.run_until_complete(run()))
    thread.start()
    assert started.wait(20)
    try:
        yield f"ws://127.0.0.1:{began.result()}/agent"
    finally:
        loop.call_soon_threadsafe(ended.set_result, None)
        thread.join()


async def objects(socket: ServerConnection) -> AsyncIterator[dict[str, Any]]:
    async for data in socket:
        yield json.loads(data)


class RealtimeServer:
    """A small server of the Realtime protocol, in its present or its first form.

    Args:
        rate: hertz of both sides; None leaves the formats out.
        first: whether events have the names of the protocol's first version.
        also: sent after each answer.
    """

    def __init__(self, *, rate: int | None = 24000, first: bool = False, also: tuple[dict[str, Any], ...] = ()) -> None:
        self.listening = Listening(rate or 24000)
        self.headers: dict[str, str] = {}
        self._rate, self._first, self._also = rate, first, also

    async def __call__(self, socket: ServerConnection) -> None:
        assert socket.request is not None
        self.headers = dict(socket.request.headers.raw_items())
        session: dict[str, Any] = {"type": "realtime"}
        if self._first:
            session |= {"input_audio_format": "pcm16", "output_audio_format": "pcm16"}
        elif self._rate:
            form = {"format": {"type": "audio/pcm", "rate": self._rate}}
            session |= {"audio": {"input": form, "output": form}}
        await socket.send(json.dumps({"type": "session.created", "session": session}))
        name = "response.audio.delta" if self._first else "response.output_audio.delta"
        async for event in objects(socket):
            assert event["type"] == "input_audio_buffer.append"
            if not self.listening.hear(np.frombuffer(base64.b64decode(event["audio"]), np.int16)):
                continue
            said = answer(self._rate or 24000).tobytes()
            for at in range(0, len(said), 4800):
                delta = base64.b64encode(said[at : at + 4800]).decode()
                await socket.send(json.dumps({"type": name, "delta": delta}))
            for other in self._also:
                await socket.send(json.dumps(other))


class ScriptedProcessor(FrameProcessor):
    """A pipecat processor that answers; the second answer is interrupted at once."""

    def __init__(self, listening: Listening, *, interrupt: bool) -> None:
        super().__init__()
        self._listening, self._interrupt = listening, interrupt

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if not isinstance(frame, InputAudioRawFrame):
            await self.push_frame(frame, direction)
        elif self._listening.hear(np.frombuffer(frame.audio, np.int16)):
            await self.push_frame(OutputAudioRawFrame(answer(16000).tobytes(), 16000, 1))
            if self._interrupt:
                await asyncio.sleep(0.3)
                await self.push_frame(InterruptionFrame())


@contextmanager
def twilio_bot(listening: Listening, *, interrupt: bool = False) -> Iterator[str]:
    """A pipecat bot behind pipecat's own serializer for Twilio; its address."""
    app = FastAPI()

    @app.websocket("/agent")
    async def call(websocket: WebSocket) -> None:
        await websocket.accept()
        assert json.loads(await websocket.receive_text())["event"] == "connected"
        start = json.loads(await websocket.receive_text())
        serializer = TwilioFrameSerializer(
            stream_sid=start["start"]["streamSid"], params=TwilioFrameSerializer.InputParams(auto_hang_up=False)
        )
        transport = FastAPIWebsocketTransport(
            websocket,
            FastAPIWebsocketParams(audio_in_enabled=True, audio_out_enabled=True, serializer=serializer),
        )
        worker = PipelineWorker(
            Pipeline([transport.input(), ScriptedProcessor(listening, interrupt=interrupt), transport.output()]),
            params=PipelineParams(audio_in_sample_rate=16000, audio_out_sample_rate=16000),
        )

        @transport.event_handler("on_client_disconnected")
        async def hang_up(_transport: FastAPIWebsocketTransport, _websocket: WebSocket) -> None:
            await worker.cancel()

        runner = WorkerRunner(handle_sigint=False)
        await runner.add_workers(worker)
        await runner.run()

    with sockets.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=2))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"ws://127.0.0.1:{listener.getsockname()[1]}/agent"
        finally:
            server.should_exit = True
            thread.join()


class OwnCall(AgentCall):
    """A protocol of somebody else's: the agent answers every turn with the same sound, without any socket."""

    def __init__(self, url: str) -> None:
        self._listening = Listening(16000)
        self._answers: asyncio.Queue[Incoming] = asyncio.Queue()

    async def open(self) -> None:
        pass

    async def send_audio(self, pcm: Pcm) -> None:
        if self._listening.hear(pcm):
            await self._answers.put(AudioPacket(answer(22050), 22050))

    async def receive(self) -> Incoming:
        return await self._answers.get()

    async def close(self) -> None:
        pass


class BilledCall(OwnCall):
    """The same, at an unknown price."""

    def cost(self, *, seconds: float, turns: int) -> float | None:
        return None


def decoded(payload: str) -> Pcm:
    """The samples in a Twilio message."""
    return np.frombuffer(audioop.ulaw2lin(base64.b64decode(payload), 2), np.int16)
