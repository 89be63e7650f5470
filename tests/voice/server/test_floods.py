"""What a client sends is bounded before it takes work: buckets and nesting, and frames and requests on real sockets."""

import asyncio
import contextlib
import errno
import json
import logging
import os
import socket
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import uvicorn

from tests.fuzz.raw_connection import masked
from tests.voice.server.test_connections import serving
from voice.errors import WireError
from voice.server.connections import BoundedHTTP, BoundedWebSocket
from voice.server.limits import (
    CONTROLS,
    DEEPEST,
    FRAMES,
    LARGEST_BODY,
    LARGEST_HEAD,
    MOST_HEADERS,
    Bucket,
    Rate,
)
from voice.server.listening import Acceptor
from voice.server.rtvi import is_deep, read_message

SHAKE = (
    b"GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


def test_a_bucket_bounds_what_is_taken_at_once_and_on_average() -> None:
    bucket = Bucket(Rate(2.0, 3))
    assert [bucket.take(10.0) for _ in range(4)] == [True, True, True, False]
    assert [bucket.take(10.5), bucket.take(10.5)] == [True, False]
    assert [bucket.take(99.0) for _ in range(4)] == [True, True, True, False]
    assert not Bucket(Rate(1.0, 5)).take(0.0, 6)


def test_a_bucket_says_how_long_each_waits() -> None:
    bucket = Bucket(Rate(2.0, 2))
    assert [bucket.wait(0.0) for _ in range(4)] == [0.0, 0.0, 0.5, 1.0]
    assert bucket.wait(0.0, longest=1.0) is None
    assert bucket.wait(0.5, longest=1.0) == 1.0


@pytest.mark.parametrize(
    ("text", "deep"),
    [
        ("[" * DEEPEST + "]" * DEEPEST, False),
        ("[" * (DEEPEST + 1), True),
        ('{"a":' * DEEPEST + "[" + "]" + "}" * DEEPEST, True),
        ("[" + "[],{}," * 9999, False),
        ('["' + "[{" * 9999 + '"]', False),
        (r'["\"' + "[{" * 9999 + '"]', False),
        (r'["\\"' + "," + "[" * 99, True),
        (r'["\\\"' + "[" * 99 + '"]', False),
        ('"ünïcödé 漢字", ' + "[" * 99, True),
        ("]" * 99 + "[" * DEEPEST, False),
        ('"' + "[" * 99, False),
    ],
)
def test_nesting_is_counted_outside_strings(text: str, deep: bool) -> None:
    assert is_deep(text) is deep


@pytest.mark.parametrize("text", ["", "[]", "1", "null", '{"a":', "NaN", '{"a": 1} {}', "[" * 99_999])
def test_what_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(WireError):
        read_message(text)


def test_a_message_is_short_as_text() -> None:
    message = read_message(json.dumps({"type": "x", "data": ["seven"] * 9999}))
    assert str(message) == f"{message}" == repr(message) == "2 fields"
    assert json.loads(json.dumps(message)) == message


async def quiet(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Answers requests, and takes what its calls send, until they end."""
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})
        return
    await receive()
    await send({"type": "websocket.accept"})
    while (await receive())["type"] != "websocket.disconnect":
        pass


async def closed_with(port: int, sent: bytes) -> tuple[int, str]:
    """The code and the reason with which a call is closed that sends this."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(SHAKE)
    async with asyncio.timeout(20):
        assert b" 101 " in await reader.readuntil(b"\r\n\r\n")
        writer.write(sent)
        while True:
            first, length = await reader.readexactly(2)
            payload = await reader.readexactly(length)
            if first & 15 == 8:
                writer.close()
                return int.from_bytes(payload[:2]), payload[2:].decode()


@pytest.mark.parametrize(
    ("sent", "code", "reason"),
    [
        (masked(9, b"x") * (CONTROLS.at_once + 20), 1008, "more than 10 pings or pongs a second came"),
        (masked(10, b"") * (CONTROLS.at_once + 20), 1008, "more than 10 pings or pongs a second came"),
        (masked(2, b"") * (2 * FRAMES.at_once), 1008, "more than 400 messages a second came"),
        (
            masked(2, b"", fin=False) + masked(0, b"", fin=False) * (2 * FRAMES.at_once),
            1008,
            "more than 400 messages a second came",
        ),
        (masked(1, b"\xff\xfe"), 1007, "a message of text is not UTF-8"),
        (masked(1, b"\xc3", fin=False) + masked(0, b"\xff"), 1007, "a message of text is not UTF-8"),
        (masked(2, b"", length=1 << 40), 1009, "exceeds limit"),
        (masked(2, b"x", rsv=4), 1002, "reserved bits must be 0"),
    ],
)
async def test_a_client_that_sends_too_much_is_closed_with_a_reason_and_one_line(
    sent: bytes, code: int, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    uvicorn_log = logging.getLogger("uvicorn.error")
    async with serving(quiet) as (server, port):
        uvicorn_log.addHandler(caplog.handler)
        found = await closed_with(port, sent)
        uvicorn_log.removeHandler(caplog.handler)
        assert found[0] == code
        assert reason in found[1]
        async with asyncio.timeout(10):
            while server.server_state.connections:
                await asyncio.sleep(0.01)
    assert len([record for record in caplog.records if record.levelno >= logging.WARNING]) == 1


async def test_a_fragmented_character_is_whole_again() -> None:
    said: list[str] = []

    async def application(_scope: dict[str, Any], receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        said.append((await receive())["text"])
        await send({"type": "websocket.close", "code": 1000})

    async with serving(application) as (_, port):
        code, _ = await closed_with(port, masked(1, b"\xc3", fin=False) + masked(0, b"\xbc"))
    assert (code, said) == (1000, ["ü"])


async def answered(port: int, sent: bytes) -> bytes:
    """What a connection is answered that sends this, until it is closed or 0.3 s long nothing comes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    answer = b""
    with contextlib.suppress(TimeoutError, ConnectionError):
        while True:
            async with asyncio.timeout(1.0):
                if not (data := await reader.read(1 << 16)):
                    break
            answer += data
    writer.close()
    return answer


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET / HTTP/1.1\r\nHost: x\r\n" + b"a: b\r\n" * (MOST_HEADERS + 1) + b"\r\n", b"431"),
        (b"GET / HTTP/1.1\r\nHost: x\r\nA: " + b"x" * (3 * LARGEST_HEAD), b"431"),
        (b"POST /start HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 900, b"400"),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (LARGEST_BODY + 1), b"400"),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 16384\r\n\r\n" + b"x\n" * (LARGEST_BODY // 2), b"200"),
        (b"GET / HTTP/1.1\r\nHost: x\r\nCookie: " + b"x" * 8000 + b"\r\n\r\n", b"200"),
    ],
)
async def test_a_request_is_refused_for_what_no_client_needs(sent: bytes, status: bytes) -> None:
    async with serving(quiet) as (_, port):
        assert (await answered(port, sent))[9:12] == status


async def test_requests_that_do_not_wait_for_an_answer_get_one() -> None:
    async with serving(quiet) as (_, port):
        answer = await answered(port, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 200)
    assert answer.count(b"HTTP/1.1 200") == 1


async def test_further_requests_wait_for_their_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []

    def wait(_bucket: Bucket, now: float, longest: float = 0.0) -> float:
        asked.append(now)
        return 0.01

    monkeypatch.setattr(Bucket, "wait", wait)
    async with serving(quiet) as (_, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(5):
            writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            async with asyncio.timeout(10):
                assert b" 200 " in await reader.readuntil(b"\r\n\r\n")
        writer.close()
    assert len(asked) == 4, "the first one has waited to be accepted"


@contextlib.asynccontextmanager
async def accepted(opened: Bucket) -> AsyncIterator[tuple[uvicorn.Server, Acceptor, socket.socket]]:
    """A server whose connections an acceptor accepts."""
    config = uvicorn.Config(quiet, http="h11", ws=BoundedWebSocket, lifespan="off", log_level="warning")
    config.load()
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        acceptor = Acceptor(listening, lambda: BoundedHTTP(config, server.server_state, {}, opened=opened), opened)
        task = asyncio.create_task(acceptor.accept())
        try:
            yield server, acceptor, listening
        finally:
            task.cancel()
            for connection in list(server.server_state.connections):
                connection.transport.abort()
            await asyncio.gather(task, return_exceptions=True)


async def eventually(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not holds():
            await asyncio.sleep(0.01)


async def test_fifty_callers_at_once_are_all_accepted_but_not_at_once() -> None:
    async with accepted(Bucket(Rate(200.0, 4))) as (server, _, listening):
        port = listening.getsockname()[1]
        begun = asyncio.get_running_loop().time()
        answers = await asyncio.gather(*(closed_with(port, masked(1, b"\xff")) for _ in range(50)))
        took = asyncio.get_running_loop().time() - begun
        assert {code for code, _ in answers} == {1007}
        assert took > 45 / 200, "they would keep the event loop from the calls under way"
        await eventually(lambda: not server.server_state.connections)


async def test_without_descriptors_connections_wait_and_one_line_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("voice.server.listening.RETRY_AFTER", 0.02)
    async with accepted(Bucket(Rate(1e6, 1000))) as (_, _, listening):
        loop = asyncio.get_running_loop()
        accept, short = loop.sock_accept, 5

        async def sock_accept(sock: socket.socket) -> Any:
            nonlocal short
            connection, address = await accept(sock)
            if short:
                short -= 1
                connection.close()
                raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
            return connection, address

        monkeypatch.setattr(loop, "sock_accept", sock_accept)
        port = listening.getsockname()[1]
        answers = await asyncio.gather(*(answered(port, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n") for _ in range(12)))
    assert sum(b" 200 " in answer for answer in answers) >= 6
    said = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert [record.message for record in said] == [
        "connections wait: the process has too few descriptors left (ulimit -n)"
    ]
    assert said[0].exc_info is None


async def test_the_last_descriptors_are_left_to_the_calls_under_way(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("voice.server.listening.RETRY_AFTER", 0.02)
    async with accepted(Bucket(Rate(1e6, 1000))) as (server, _, listening):
        port = listening.getsockname()[1]
        free = os.dup(0)
        os.close(free)
        monkeypatch.setattr("voice.server.listening.descriptors", lambda: free + 1)
        assert await answered(port, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n") == b""
        assert not server.server_state.connections
        monkeypatch.undo()
        assert b" 200 " in await answered(port, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    assert "too few descriptors" in caplog.text
