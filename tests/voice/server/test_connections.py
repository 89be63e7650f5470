"""Connections that say nothing or read nothing are given up, and there are only so many."""

import asyncio
import contextlib
import logging
import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest
import uvicorn
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from voice.server import connections
from voice.server.connections import BoundedHTTP, BoundedWebSocket


async def talkative(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Answers requests, and sends to its calls without end, as fast as they read."""
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})
        return
    await receive()
    await send({"type": "websocket.accept"})
    while True:
        await send({"type": "websocket.send", "bytes": bytes(65536)})


@contextlib.asynccontextmanager
async def serving(application: Any = talkative) -> AsyncIterator[tuple[uvicorn.Server, int]]:
    """The server and its port."""
    config = uvicorn.Config(application, http=BoundedHTTP, ws=BoundedWebSocket, lifespan="off", log_level="warning")
    server = uvicorn.Server(config)
    sock = socket.create_server(("127.0.0.1", 0))
    task = asyncio.create_task(server.serve(sockets=[sock]))
    try:
        while not server.started:
            await asyncio.sleep(0.01)
        yield server, sock.getsockname()[1]
    finally:
        server.should_exit = True
        await task


async def closed(reader: asyncio.StreamReader) -> bool:
    """Whether the server closes the connection within 5 s."""
    with contextlib.suppress(ConnectionError):
        async with asyncio.timeout(5):
            while await reader.read(65536):
                pass
    return True


@pytest.mark.parametrize("said", [b"", b"GET /ws HT", b"GET /ws HTTP/1.1\r\nHost: x\r\n"])
async def test_a_client_without_a_request_is_given_up(said: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("voice.server.limits.REQUEST_WITHIN", 0.2)
    async with serving() as (server, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(said)
        assert await closed(reader)
        assert not server.server_state.connections
        writer.close()


async def test_a_client_without_a_second_whole_request_is_given_up_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("voice.server.limits.REQUEST_WITHIN", 0.3)
    async with serving() as (server, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n")
        assert await closed(reader)
        assert not server.server_state.connections
        writer.close()


async def test_a_client_that_never_reads_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("voice.server.limits.READ_WITHIN", 0.3)
    async with serving() as (server, port):
        with socket.create_connection(("127.0.0.1", port)) as raw:
            raw.sendall(
                b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
            )
            async with asyncio.timeout(10):
                while not server.server_state.connections:
                    await asyncio.sleep(0.01)
                while server.server_state.connections:
                    await asyncio.sleep(0.05)


async def test_more_connections_than_descriptors_allow_are_refused(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(connections, "most_connections", lambda: 3)
    monkeypatch.setattr(BoundedHTTP, "_quiet_until", 0.0)
    async with serving() as (server, port):
        kept = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
        for _ in range(20):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            assert await closed(reader)
            writer.close()
        assert len(server.server_state.connections) == 3
        for _, writer in kept:
            writer.close()
    assert [record.message for record in caplog.records if "refused" in record.message] == [
        "connections are refused: 3 are open"
    ]


@pytest.mark.parametrize("local", [True, False])
async def test_one_other_machine_gets_half_of_the_connections(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, local: bool
) -> None:
    monkeypatch.setattr(connections, "most_connections", lambda: 6)
    monkeypatch.setattr(connections, "is_local_address", lambda _: local)
    monkeypatch.setattr(BoundedHTTP, "_quiet_until", 0.0)
    async with serving() as (server, port):
        opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(8)]
        async with asyncio.timeout(10):
            while "refused" not in caplog.text:
                await asyncio.sleep(0.01)
            for reader, _ in opened[6 if local else 3 :]:
                assert await closed(reader)
        assert len(server.server_state.connections) == (6 if local else 3)
        for _, writer in opened:
            writer.close()
    said = "6 are open" if local else "3 from 127.0.0.1 are open"
    assert f"connections are refused: {said}" in caplog.messages


async def test_a_client_is_not_read_while_too_many_of_its_messages_wait() -> None:
    async with listening_slowly() as (handled, port), connect(f"ws://127.0.0.1:{port}/ws", compression=None) as client:

        async def send() -> None:
            for _ in range(500):
                await client.send(bytes(100_000))

        sending = asyncio.create_task(send())
        await asyncio.sleep(0.5)
        assert not sending.done(), "50 MB were taken for an application that reads nothing"
        handled.set()
        await asyncio.wait_for(sending, 20)


@contextlib.asynccontextmanager
async def listening_slowly() -> AsyncIterator[tuple[asyncio.Event, int]]:
    """A server that handles messages once the event is set, and its port."""
    may_handle = asyncio.Event()

    async def application(_scope: dict[str, Any], receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        await may_handle.wait()
        while (await receive())["type"] != "websocket.disconnect":
            pass

    async with serving(application) as (_, port):
        try:
            yield may_handle, port
        finally:
            may_handle.set()


async def refusing(_scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Refuses each call with an answer in two parts."""
    await receive()
    await send({"type": "websocket.http.response.start", "status": 403, "headers": []})
    await send({"type": "websocket.http.response.body", "body": b"not ", "more_body": True})
    await send({"type": "websocket.http.response.body", "body": b"you"})


async def test_a_refusal_is_no_error_of_the_server(caplog: pytest.LogCaptureFixture) -> None:
    uvicorn_log = logging.getLogger("uvicorn.error")
    async with serving(refusing) as (_, port):
        uvicorn_log.addHandler(caplog.handler)
        with pytest.raises(InvalidStatus) as refused:
            await connect(f"ws://127.0.0.1:{port}")
    uvicorn_log.removeHandler(caplog.handler)
    assert refused.value.response.body == b"not you"
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
