"""A server that is asked to end lets its calls end first."""

import asyncio
import contextlib
import signal

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from tests.pipelines.server_process import ServerProcess, start_server
from tests.pipelines.serving.test_strangers import answers, ready, rtvi


@pytest.fixture
def ending() -> ServerProcess:
    """A server of this test's own."""
    return start_server("--pipeline", "embedded", "--drain", "20")


async def refusal(url: str) -> str:
    """Why the server takes no call."""
    async with connect(url) as call:
        with pytest.raises(ConnectionClosed) as closed:
            await call.recv()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1013
    return closed.value.rcvd.reason


async def test_calls_end_before_the_server_does(ending: ServerProcess) -> None:
    async with connect(ending.url) as call:
        await ready(call)
        ending.process.send_signal(signal.SIGTERM)
        await asyncio.sleep(0.5)
        assert "about to end" in await refusal(ending.url)
        await call.send(rtvi("send-text", content="what time is it"))
        assert any(one["type"] == "bot-output" for one in await answers(call, 3))
        assert ending.process.poll() is None
    assert await asyncio.to_thread(ending.process.wait, 10) == 0


async def test_a_second_signal_ends_the_calls_too(ending: ServerProcess) -> None:
    async with connect(ending.url) as call:
        await ready(call)
        ending.process.send_signal(signal.SIGTERM)
        await asyncio.sleep(0.3)
        ending.process.send_signal(signal.SIGTERM)
        with contextlib.suppress(ConnectionClosed):
            await answers(call, 5)
        with pytest.raises(ConnectionClosed):
            await call.recv()
    assert await asyncio.to_thread(ending.process.wait, 10) == 0


async def test_a_server_without_calls_ends_at_once(ending: ServerProcess) -> None:
    ending.process.send_signal(signal.SIGTERM)
    assert await asyncio.to_thread(ending.process.wait, 10) == 0
