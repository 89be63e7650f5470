"""Connections that break at random moments: on real sockets, every message arrives once, and in order."""

import asyncio
import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
import uvicorn
from pipecat.frames.frames import Frame, InputTransportMessageFrame, OutputTransportMessageUrgentFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.voice.server.resumption.cutting_proxy import CuttingProxy, proxy_to
from voice.client.call import connection
from voice.client.call.agent_call import CallOver
from voice.client.call.connection import CallConnection
from voice.server.app import create_app
from voice.server.authentication import Access
from voice.server.calls import NO_SUCH_CALL, BuiltCall, Calls
from voice.server.connections import BoundedHTTP, BoundedWebSocket
from voice.server.limits import Rate
from voice.server.transport import Caller, CallTransport
from voice.wire import framing
from voice.wire.endpoint import IN_RATE
from voice.wire.messages import ClientMessage, ResumeMessage
from voice.wire.requests import Custom
from voice.wire.resumption import GONE, RECEIVED_HEADER, RESUME_HEADER

EVERY = 0.002
"""Seconds between two messages, in both directions."""


class Counting(FrameProcessor):
    """Sends a numbered message every now and then, and keeps the numbers that come."""

    padding = ""
    """Makes its messages longer."""

    def __init__(self) -> None:
        super().__init__()
        self.sent, self.heard = 0, list[int]()
        self.going = asyncio.Event()
        self.going.set()
        self.counting: asyncio.Task[None] | None = None

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        await self.push_frame(frame, direction)
        if isinstance(frame, InputTransportMessageFrame) and direction is FrameDirection.DOWNSTREAM:
            self.heard.append(frame.message["data"]["d"])
            self.counting = self.counting or self.create_task(self._count(), "count")

    async def _count(self) -> None:
        while True:
            await self.going.wait()
            number, self.sent = self.sent, self.sent + 1
            data = {
                "label": "rtvi-ai",
                "type": "server-message",
                "id": "",
                "data": {"number": number, "padding": self.padding},
            }
            await self.push_frame(OutputTransportMessageUrgentFrame(message=data))
            await asyncio.sleep(EVERY)

    async def cleanup(self) -> None:
        if self.counting:
            await self.cancel_task(self.counting)
        await super().cleanup()  # type: ignore[no-untyped-call]


class CountingAgent:
    """Its calls count."""

    native_rate = 22050

    def __init__(self) -> None:
        self.parts: list[Counting] = []

    def status(self) -> dict[str, Any]:
        return {}

    def build_call(self, caller: Caller) -> BuiltCall:
        self.parts.append(Counting())
        transport = CallTransport(caller)
        worker = PipelineWorker(
            Pipeline([transport.input(), self.parts[-1], transport.output()]),
            params=PipelineParams(audio_in_sample_rate=IN_RATE, audio_out_sample_rate=caller.sample_rate),
            idle_timeout_secs=None,
            cancel_timeout_secs=3.0,
            enable_rtvi=False,
        )
        return BuiltCall(worker, transport)


async def until(holds: Any, within: float = 20.0) -> None:
    async with asyncio.timeout(within):
        while not holds():
            await asyncio.sleep(0.01)


@asynccontextmanager
async def serving(**how: Any) -> AsyncIterator[tuple[CountingAgent, Calls, CuttingProxy]]:
    agent = CountingAgent()
    calls = Calls(agent, **how)
    calls.ready = True
    config = uvicorn.Config(
        create_app(calls, Access()), port=0, log_level="error", http=BoundedHTTP, ws=BoundedWebSocket, lifespan="off",
        ws_per_message_deflate=False, timeout_graceful_shutdown=1,
    )  # fmt: skip
    server = uvicorn.Server(config)
    running = asyncio.create_task(server._serve())
    while not server.started:
        await asyncio.sleep(0.01)
    async with proxy_to(server.servers[0].sockets[0].getsockname()[1]) as proxy:
        yield agent, calls, proxy
    calls.end_waiting()
    server.should_exit = True
    await running
    # uvicorn does not wait for the calls that it cancels. If the loop ended now, it would cancel them and all their
    # tasks once more, and pipecat would wait for ever for what those tasks no longer do.
    await until(lambda: not calls.active)


class CountingCaller:
    """A client that counts, too."""

    def __init__(self, port: int) -> None:
        self.heard: list[int] = []
        self.sent = self.lost = self.resumed = 0
        self.connection = CallConnection(
            f"ws://127.0.0.1:{port}/ws", sample_rate="native", lost=self._lost, resumed=self._resumed
        )
        self.over: str | None = None

    def _lost(self) -> None:
        self.lost += 1

    def _resumed(self) -> None:
        self.resumed += 1

    async def send(self) -> None:
        with suppress(CallOver):
            while True:
                await self.connection.send(framing.encode(ClientMessage("x", Custom("count", self.sent))))
                self.sent += 1
                await asyncio.sleep(EVERY)

    async def receive(self) -> None:
        connected, data = self.connection, b""
        decode = framing.decode

        def peek(raw: bytes | str) -> framing.Incoming:
            nonlocal data
            data = raw if isinstance(raw, bytes) else raw.encode()
            return decode(raw)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(framing, "decode", peek)
            try:
                while True:
                    await connected.receive()
                    self.heard.append(
                        json.loads(framing.frames_pb2.Frame.FromString(data).message.data)["data"]["number"]
                    )
            except CallOver as over:
                self.over = str(over)


@asynccontextmanager
async def calling(proxy: CuttingProxy) -> AsyncIterator[CountingCaller]:
    caller = CountingCaller(proxy.port)
    await caller.connection.open()
    tasks = [asyncio.create_task(caller.receive()), asyncio.create_task(caller.send())]
    try:
        await until(lambda: caller.heard or caller.over)
        yield caller
    finally:
        await caller.connection.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def test_no_message_is_lost_or_comes_twice_in_100_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
    # This client sends more than one needs.
    monkeypatch.setattr("voice.server.limits.RTVI", Rate(1000, 200))
    monkeypatch.setattr("voice.server.limits.RTVI_READ", Rate(1000, 10))
    rng = random.Random(1)
    async with serving() as (agent, calls, proxy), calling(proxy) as caller:
        for number in range(1, 101):
            await asyncio.sleep(rng.uniform(0, 0.04))
            proxy.cut()
            await until(lambda n=number: caller.resumed == n or caller.over)
            assert caller.over is None
        (part,) = agent.parts
        assert len(calls.active) == 1, "it is one call"
        part.going.clear()
        await until(lambda: len(caller.heard) == part.sent)
        assert caller.heard == list(range(part.sent))
        sent = caller.sent
        await until(lambda: len(part.heard) >= sent)
        assert part.heard == list(range(len(part.heard)))
        assert min(len(caller.heard), sent) > 500
    await until(lambda: not calls.active)


async def test_a_client_that_connects_again_before_its_old_connection_has_gone() -> None:
    async with serving() as (agent, _, proxy), calling(proxy) as caller:
        proxy.freeze()
        await asyncio.sleep(0.3)
        caller.connection.check(0.1)
        await until(lambda: caller.resumed == 1)
        (part,) = agent.parts
        part.going.clear()
        await until(lambda: len(caller.heard) == part.sent)
        assert caller.heard == list(range(part.sent))
        assert part.heard == list(range(len(part.heard)))


async def test_a_call_waits_for_its_client_only_so_long() -> None:
    async with serving(resume_within=0.3) as (_, calls, proxy), calling(proxy) as caller:
        proxy.closed = True
        proxy.cut()
        await until(lambda: caller.over is not None)
        assert caller.over is not None
        assert "cannot be taken up again: the server was not reached within 0.3 s" in caller.over
        await until(lambda: not calls.active)


async def test_a_server_that_is_gone_is_not_asked_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "REFUSED_FOR", 0.2)
    async with serving() as (_, _calls, proxy), calling(proxy) as caller:
        proxy.stop_listening()
        proxy.cut()
        await until(lambda: caller.over is not None)
        assert caller.over == "the connection to the server was lost"


async def test_who_hangs_up_is_not_waited_for() -> None:
    async with serving() as (_, calls, proxy):
        async with calling(proxy):
            assert len(calls.active) == 1
        await until(lambda: not calls.active, within=10)


async def test_a_client_that_cannot_take_a_call_up_is_not_waited_for() -> None:
    async with serving() as (_, calls, proxy), connect(f"ws://127.0.0.1:{proxy.port}/ws"):
        await until(lambda: calls.active)
        proxy.cut()
        await until(lambda: not calls.active, within=10)


async def test_half_of_the_calls_may_wait() -> None:
    async with serving(most=2) as (_, calls, proxy), calling(proxy), calling(proxy):
        proxy.closed = True
        proxy.cut()
        await until(lambda: len(calls.active) == 1)
        await asyncio.sleep(0.3)
        assert len(calls.active) == 1


@pytest.mark.parametrize("received", ["0", "-1", "999999", "x", "", "9" * 40])
async def test_a_wrong_token_or_place_opens_nothing(received: str) -> None:
    async with serving() as (_, calls, proxy):
        url = f"ws://127.0.0.1:{proxy.port}/ws"
        async with connect(f"{url}?resumes=1") as socket:
            resume = framing.decode(await socket.recv())
            assert isinstance(resume, ResumeMessage)
            assert resume.token not in repr(resume)
            tokens = ["", "wrong", "é", resume.token[:-1]] + [resume.token] * (received != "0")
            for token in filter(None, tokens):
                headers = {RESUME_HEADER: token.encode().decode("latin-1"), RECEIVED_HEADER: received}
                with pytest.raises(InvalidStatus) as refused:
                    await connect(url, additional_headers=headers)
                assert refused.value.response.status_code == 410
                assert json.loads(refused.value.response.body or b"")["error"] == NO_SUCH_CALL
            with pytest.raises(InvalidStatus) as refused:
                await connect(f"{url}?resume={resume.token}&received=0", origin="https://evil.example")
            assert refused.value.response.status_code == 403
            # A browser is told by a code of closing.
            async with connect(f"{url}?resume=wrong&received=0") as browser:
                with pytest.raises(ConnectionClosed, match=f"{GONE}.* call anew"):
                    await browser.recv()
            assert len(calls.active) == 1
            async with connect(f"{url}?resume={resume.token}&received=0") as again:
                assert isinstance(framing.decode(await again.recv()), ResumeMessage)
                with pytest.raises(ConnectionClosed):
                    await socket.recv()
