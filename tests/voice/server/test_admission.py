"""A server without headroom says so on every way in, and keeps the calls there are."""

import asyncio
import contextlib
import json
import socket
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
import uvicorn
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from voice.queue_waits import ENOUGH, QueueWaits
from voice.server.admission import Headroom
from voice.server.app import create_app
from voice.server.authentication import Access
from voice.server.calls import Calls
from voice.wire.endpoint import READY_PATH, START_PATH


class Metrics:
    """Counts what was refused."""

    def __init__(self) -> None:
        self.kinds: list[str] = []

    def refused(self, kind: str) -> None:
        self.kinds.append(kind)


@contextlib.asynccontextmanager
async def busy_server() -> AsyncIterator[tuple[int, Metrics]]:
    """The port of a server whose calls wait for the voice, and its metrics."""
    waits, metrics = QueueWaits("synthesis"), Metrics()
    for _ in range(ENOUGH):
        waits.note(0.9, time.monotonic())
    calls = Calls(cast(Any, None), metrics=cast(Any, metrics))
    calls.ready = True
    calls.headroom = Headroom(queues=[waits])
    calls.active = {cast(Any, object()): time.monotonic() - 20}
    config = uvicorn.Config(create_app(calls, Access()), lifespan="off", log_level="warning")
    server = uvicorn.Server(config)
    sock = socket.create_server(("127.0.0.1", 0))
    task = asyncio.create_task(server.serve(sockets=[sock]))
    try:
        while not server.started:
            await asyncio.sleep(0.01)
        yield sock.getsockname()[1], metrics
    finally:
        server.should_exit = True
        await task


def fetch(url: str, *, data: bytes | None = None) -> tuple[int, dict[str, Any], str | None]:
    """Status, JSON, and when to try again."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(urllib.request.Request(url, data=data), timeout=10) as answer:
            return answer.status, json.load(answer), answer.headers.get("Retry-After")
    except urllib.error.HTTPError as error:
        return error.code, json.load(error), error.headers.get("Retry-After")


async def test_a_call_is_refused_with_the_reason_and_when_to_try_again() -> None:
    async with busy_server() as (port, metrics):
        async with connect(f"ws://127.0.0.1:{port}/ws") as call:
            with pytest.raises(ConnectionClosed) as closed:
                await call.recv()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1013
        assert closed.value.rcvd.reason == "calls wait 0.90 s for the voice (1 under way); call again in 10 s"
        assert metrics.kinds == ["overloaded"]


@pytest.mark.parametrize(("path", "data", "key"), [(START_PATH, b"{}", "error"), (READY_PATH, None, "reason")])
async def test_http_says_it_too(path: str, data: bytes | None, key: str) -> None:
    async with busy_server() as (port, _):
        status, told, again = await asyncio.to_thread(lambda: fetch(f"http://127.0.0.1:{port}{path}", data=data))
    assert (status, again) == (503, "10")
    assert "wait 0.90 s for the voice" in told[key]
