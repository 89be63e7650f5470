"""A small server that speaks the wire, and what calls need to be made to it.

Its delays are counted in samples it has received, so that a slow machine moves no expectation.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from pipecat.frames.protobufs import frames_pb2
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from latency.record.turn import ServerTurn
from voice.client.call.call_result import CallResult
from voice.client.call.line import PacedLine
from voice.client.call.listener import CallListener
from voice.client.call.session import CallSession
from voice.client.caller.scripted_caller import PlacedTurn, ScriptedCaller
from voice.client.fixtures.fixture import Fixture, FixtureTurn
from voice.client.sound.pcm import MESSAGE_SAMPLES, RATE, Pcm
from voice.wire.messages import ClientMessage
from voice.wire.requests import Reply

SERVER_CLOCK = 5000.0
"""Seconds the server's clock is ahead of the client's."""


def tone(seconds: float, rate: int = RATE) -> Pcm:
    samples: Pcm = (8000 * np.sin(2 * np.pi * 440 * np.arange(round(seconds * rate)) / rate)).astype(np.int16)
    return samples


def fixture(*, turns: int = 1, seconds: float = 0.3) -> Fixture:
    """Turns of a tone with 0.1 s of silence on both sides."""
    silence = np.zeros(RATE // 10, np.int16)
    samples = np.concatenate([silence, tone(seconds), silence])
    one = FixtureTurn(
        name="01.wav",
        wav=Path("01.wav"),
        text="what time is it",
        speaker="someone",
        samples=samples,
        speech=((0.1, 0.1 + seconds),),
        labels=(),
        send_after=None,
        wants_answer=True,
        contains=("it is",),
        truth="labelled",
        sha256="abc",
    )
    return Fixture(name="sim:tone/short", source=Path("x"), group="sim:tone", turns=(one,) * turns, notices=())


def caller(of: Fixture) -> ScriptedCaller:
    return ScriptedCaller(of.turns, reply_wait=1.5, after_reply=0.4, lead_in=0.2, hang_up_after=0.3)


class Bot:
    """One connection of the server: handshake and clock are done; `audio` and `message` send."""

    def __init__(self, socket: ServerConnection, *, has_clock: bool = True, rate: int = RATE) -> None:
        self.socket = socket
        self.rate = rate
        self.received = np.zeros(0, np.int16)
        self.asked: list[object] = []
        self._has_clock = has_clock

    def now(self) -> float:
        return time.monotonic() + SERVER_CLOCK

    async def frames(self) -> AsyncIterator[Pcm]:
        """The user's audio, frame by frame."""
        async for data in self.socket:
            frame = frames_pb2.Frame.FromString(data)
            if frame.WhichOneof("frame") == "audio":
                self.received = np.append(self.received, np.frombuffer(frame.audio.audio, np.int16))
                yield self.received[-MESSAGE_SAMPLES:]
            else:
                await self._answer(json.loads(frame.message.data))

    async def _answer(self, message: dict[str, Any]) -> None:
        if message["type"] == "client-ready":
            await self.message("bot-ready", {"version": "2.0.0"}, id=message["id"])
        elif self._has_clock and message["data"].get("t") == "clock":
            clock = {"client": message["data"]["d"]["client"], "server": self.now()}
            await self.message("server-response", {"t": "clock", "d": clock}, id=message["id"])
        elif message["data"].get("t") == "echo":
            self.asked.append(message["data"]["d"])
            await self.message("server-response", {"t": "echo", "d": message["data"]["d"]}, id=message["id"])
        elif message["data"].get("t") == "refuse":
            await self.message("error-response", {"error": "There is no such thing."}, id=message["id"])

    async def message(self, type: str, data: dict[str, Any], id: str = "") -> None:
        frame = frames_pb2.Frame()
        frame.message.data = json.dumps({"label": "rtvi-ai", "type": type, "id": id, "data": data})
        await self.socket.send(frame.SerializeToString())

    async def audio(self, pcm: Pcm, rate: int | None = None) -> None:
        for at in range(0, len(pcm), 480):
            frame = frames_pb2.Frame()
            frame.audio.audio = pcm[at : at + 480].tobytes()
            frame.audio.sample_rate, frame.audio.num_channels = rate or self.rate, 1
            await self.socket.send(frame.SerializeToString())

    async def interrupt(self) -> None:
        frame = frames_pb2.Frame()
        frame.interruption.SetInParent()
        await self.socket.send(frame.SerializeToString())

    async def answer_turns(self, *, delay: float, report: bool = True) -> None:
        """Answer each turn with 0.5 s of tone, `delay` seconds of received audio after its last loud sample."""
        turn, heard_at = 0, None
        async for frame in self.frames():
            if np.abs(frame).max() > 1000:
                heard_at = len(self.received)
            elif heard_at is not None and len(self.received) - heard_at >= delay * RATE:
                heard_at = None
                committed = self.now()
                await self.message("user-transcription", {"text": "what time is it", "final": True})
                marks = {"vad_stop": committed - 0.01, "turn_commit": committed}
                state = {"type": "turn", "turn": turn, "final": False, "marks": marks, "heard": "what time is it"}
                if report:
                    await self.message("server-message", state)
                await self.message("bot-output", {"text": "It is noon.", "segment_id": turn, "will_be_spoken": True})
                await self.audio(tone(0.5, self.rate))
                marks = marks | {"first_sent": self.now()}
                attempt = {"tier": "responder", "request": committed, "end": None, "outcome": "spoken"}
                told = {"said": "It is noon.", "ended_by": "smart_turn", "attempts": [attempt], "marks": marks}
                if report:
                    await self.message("server-message", state | told | {"final": True})
                turn += 1


Behaviour = Callable[[ServerConnection], Awaitable[None]]


@asynccontextmanager
async def serving(behaviour: Behaviour, **how: Any) -> AsyncIterator[str]:
    """A server on a free port; its address."""

    async def handle(socket: ServerConnection) -> None:
        with suppress(ConnectionClosed):
            await behaviour(socket)

    async with serve(handle, "127.0.0.1", 0, compression=None, max_size=None, **how) as server:
        port = server.sockets[0].getsockname()[1]
        yield f"ws://127.0.0.1:{port}/ws"


async def call(behaviour: Behaviour, of: Fixture, **how: Any) -> CallResult:
    async with serving(behaviour) as url:
        return await CallSession(url, PacedLine(caller(of)), **how).run()


def onset_after(channel: Pcm, at: float) -> float:
    loud = np.flatnonzero(np.abs(channel[round(at * RATE) :].astype(int)) > 1000)
    return at + int(loud[0]) / RATE


class Notes(CallListener):
    """Writes down what it is called with; `wait` waits for a call."""

    def __init__(self) -> None:
        self.seen: list[tuple[object, ...]] = []
        self._news = asyncio.Event()

    def note(self, *event: object) -> None:
        self.seen.append(event)
        self._news.set()

    async def wait(self, *event: object) -> None:
        async with asyncio.timeout(30):
            while event not in self.seen:
                self._news.clear()
                await self._news.wait()

    def on_ready(self) -> None:
        self.note("ready")

    def on_placed(self, turn: PlacedTurn) -> None:
        self.note("placed", turn.index)

    def on_heard(self, text: str) -> None:
        self.note("heard", text)

    def on_said(self, text: str) -> None:
        self.note("said", text)

    def on_turn(self, turn: ServerTurn) -> None:
        self.note("turn", turn.turn, turn.final)

    def on_answer(self, asked: ClientMessage, reply: Reply) -> None:
        self.note("answer", asked.id, reply.topic, reply.to_json())

    def on_refusal(self, asked: ClientMessage, reason: str) -> None:
        self.note("refusal", asked.id, asked.request.topic, reason)
