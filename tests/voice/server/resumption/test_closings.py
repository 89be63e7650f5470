"""Whatever ends a connection on the server's side, the client is told a code and a reason."""

import asyncio
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.voice.server.resumption.test_cuts import CountingAgent, serving, until
from tests.voice.server.resumption.test_idle import read_all
from voice.server.calls import BuiltCall, Calls
from voice.server.closing import FAILED
from voice.server.transport import Caller
from voice.wire import framing
from voice.wire.messages import ResumeMessage
from voice.wire.resumption import RECEIVED_HEADER, RESUME_HEADER

REPLACED = (1001, "the call goes on with another connection")


async def ending(socket: ClientConnection) -> tuple[int, str]:
    """The code and the reason with which the server closes a connection; 1006 where it drops it."""
    with pytest.raises(ConnectionClosed) as closed:
        await asyncio.wait_for(read_all(socket), 10)
    received = closed.value.rcvd
    return (received.code, received.reason) if received else (1006, "")


async def resume(url: str, token: str) -> ClientConnection:
    socket = await connect(url, additional_headers={RESUME_HEADER: token, RECEIVED_HEADER: "0"})
    assert isinstance(framing.decode(await socket.recv()), ResumeMessage)
    return socket


async def called(url: str) -> tuple[ClientConnection, str]:
    """A call that can be taken up again, and its token."""
    socket = await connect(f"{url}?resumes=1")
    message = framing.decode(await socket.recv())
    assert isinstance(message, ResumeMessage)
    return socket, message.token


async def test_each_connection_that_another_one_replaces_is_told_so() -> None:
    async with serving() as (_, calls, proxy):
        url = f"ws://127.0.0.1:{proxy.to}/ws"
        first, token = await called(url)
        sockets = [first, *[await resume(url, token) for _ in range(3)]]
        assert [await ending(socket) for socket in sockets[:-1]] == [REPLACED] * 3
        assert len(calls.active) == 1
        await sockets[-1].close()
        await until(lambda: not calls.active)


async def test_connections_that_come_all_at_once_are_told_so() -> None:
    async with serving() as (_, calls, proxy):
        url = f"ws://127.0.0.1:{proxy.to}/ws"
        first, token = await called(url)
        sockets = [first, *await asyncio.gather(*(resume(url, token) for _ in range(5)))]
        endings = [asyncio.create_task(ending(socket)) for socket in sockets]
        await until(lambda: sum(one.done() for one in endings) == len(sockets) - 1)
        assert [one.result() for one in endings if one.done()] == [REPLACED] * 5
        assert len(calls.active) == 1


@pytest.mark.parametrize("resumed", [False, True])
async def test_a_call_that_lasts_too_long_says_so_on_its_latest_connection(resumed: bool) -> None:
    async with serving(longest=0.5) as (_, _calls, proxy):
        url = f"ws://127.0.0.1:{proxy.to}/ws"
        socket, token = await called(url)
        if resumed:
            socket = await resume(url, token)
        assert await ending(socket) == (1011, f"it has lasted {0.5 / 60:g} minutes, the longest for this server")


class FailingAgent(CountingAgent):
    """Its calls cannot be built, for a reason that nobody thought of."""

    def build_call(self, caller: Caller) -> BuiltCall:
        raise KeyError("nobody thought of this")


@pytest.mark.parametrize("query", ["", "?resumes=1"])
async def test_a_call_that_fails_on_the_server_is_closed_with_1011(query: str) -> None:
    async with serving() as (_, calls, proxy):
        calls.agent = FailingAgent()
        async with connect(f"ws://127.0.0.1:{proxy.to}/ws{query}") as socket:
            assert await ending(socket) == (1011, FAILED)


async def test_a_call_that_fails_while_it_goes_on_is_closed_with_1011(monkeypatch: pytest.MonkeyPatch) -> None:
    going_on = asyncio.Event()

    async def fail(_calls: Calls, *_: Any) -> str:
        await going_on.wait()
        raise KeyError("nobody thought of this")

    monkeypatch.setattr(Calls, "_converse", fail)
    async with serving() as (_, _calls, proxy):
        url = f"ws://127.0.0.1:{proxy.to}/ws"
        _first, token = await called(url)
        socket = await resume(url, token)
        going_on.set()
        assert await ending(socket) == (1011, FAILED)


@pytest.mark.parametrize("query", ["", "?resumes=1"])
async def test_a_server_that_is_stopped_says_so(query: str) -> None:
    async with serving() as (_, calls, proxy):
        socket = await connect(f"ws://127.0.0.1:{proxy.to}/ws{query}")
        await until(lambda: calls.active)
    assert await ending(socket) == (1012, "the server was stopped")
