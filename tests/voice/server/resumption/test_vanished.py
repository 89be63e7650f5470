"""A client that vanishes without a word is no warning of a library's: the metrics say what became of its call."""

import asyncio
from collections.abc import Iterator
from typing import Any
from unittest import mock

import pytest
from loguru import logger
from websockets.asyncio.client import connect

from tests.voice.server.resumption.test_cuts import Counting, serving, until
from voice.server.connections import BoundedWebSocket
from voice.wire import framing
from voice.wire.endpoint import RESUMES_PARAMETER
from voice.wire.messages import ClientMessage
from voice.wire.requests import Custom


class Metrics:
    """Keeps why calls ended."""

    def __init__(self) -> None:
        self.why: list[str] = []

    def refused(self, kind: str) -> None:
        raise AssertionError(kind)

    def began(self) -> Any:
        return mock.Mock()

    def ended(self, _call: Any, why: str) -> None:
        self.why.append(why)

    def under_way(self) -> list[Any]:
        return []

    def exposition(self) -> tuple[bytes, str]:
        return b"", ""


@pytest.fixture
def warnings() -> Iterator[list[str]]:
    """What pipecat logs as a warning or worse."""
    lines: list[str] = []
    sink = logger.add(lines.append, level="WARNING", format="{message}")
    yield lines
    logger.remove(sink)


def start() -> bytes:
    return framing.encode(ClientMessage("x", Custom("count", 0)))


async def test_a_client_that_vanishes_while_much_waits_for_it(
    monkeypatch: pytest.MonkeyPatch, warnings: list[str]
) -> None:
    waits = asyncio.Event()
    send = BoundedWebSocket.send

    async def send_and_tell(self: BoundedWebSocket, message: Any) -> None:
        if not self.writable.is_set():
            waits.set()
        await send(self, message)

    monkeypatch.setattr(BoundedWebSocket, "send", send_and_tell)
    monkeypatch.setattr("voice.server.limits.READ_WITHIN", 60)
    monkeypatch.setattr(Counting, "padding", 200_000 * "x")
    metrics = Metrics()
    async with serving(metrics=metrics) as (_, calls, proxy), connect(f"ws://127.0.0.1:{proxy.to}/ws") as socket:
        await socket.send(start())
        await asyncio.wait_for(waits.wait(), 20)
        socket.transport.abort()
        await until(lambda: not calls.active)
    assert warnings == []
    assert metrics.why == ["its connection broke"]


@pytest.mark.parametrize(
    ("query", "code", "why"),
    [
        ("", None, "its connection broke"),
        (f"?{RESUMES_PARAMETER}=1", None, "its connection broke"),
        ("", 1000, "the caller hung up"),
        (f"?{RESUMES_PARAMETER}=1", 1000, "the caller hung up"),
        ("", 1005, "the caller hung up"),
    ],
)
async def test_the_metrics_are_told_who_hung_up_and_whose_connection_broke(
    query: str, code: int | None, why: str
) -> None:
    metrics = Metrics()
    async with (
        serving(metrics=metrics, resume_within=0.1) as (_, calls, proxy),
        connect(f"ws://127.0.0.1:{proxy.to}/ws{query}") as socket,
    ):
        await socket.send(start())
        await socket.recv()
        if code is None:
            socket.transport.abort()
        elif code == 1005:
            # As a page's `close()` without a code does.
            async with socket.send_context():
                socket.protocol.send_close()
        else:
            await socket.close(code)
        await until(lambda: not calls.active)
    assert metrics.why == [why]


@pytest.mark.parametrize("query", ["", f"?{RESUMES_PARAMETER}=1"])
async def test_a_call_that_ends_with_the_server_was_not_hung_up(query: str) -> None:
    metrics = Metrics()
    async with serving(metrics=metrics) as (_, _, proxy):
        socket = await connect(f"ws://127.0.0.1:{proxy.to}/ws{query}")
        await socket.send(start())
        await socket.recv()
    await socket.close()
    assert metrics.why == ["the server was stopped"]
