"""Clients that flood a server: python -m tests.benchmarks.flooding PORT NAME SECONDS

Each sends as fast as it may, and connects again when its connection is closed; at the end it prints how often it
connected, and the codes with which the server closed its connections.
"""

import asyncio
import json
import os
import socket
import struct
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress

from tests.fuzz.raw_connection import masked
from tests.voice.wire.packed import audio, message
from voice.wire.framing import encode
from voice.wire.messages import ClientReady

SHAKE = (
    b"GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)
READY = masked(2, encode(ClientReady()))
CHUNKED = b"POST /start HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 40_000
HEADERS = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"a:\r\n" * 60_000 + b"\r\n"
GET = b"GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


def rtvi(kind: str, data: object) -> bytes:
    """A message of a client in a frame of a WebSocket."""
    return masked(2, message(json.dumps({"label": "rtvi-ai", "type": kind, "id": "1", "data": data})))


def asks(topic: str, data: object = None) -> bytes:
    """A request of a client."""
    return rtvi("client-message", {"t": topic, "d": data})


def nested(depth: int, times: int = 1) -> bytes:
    """A request that holds lists in lists."""
    lists = ",".join(["[" * depth + "]" * depth] * times)
    begins = '{"label":"rtvi-ai","type":"client-message","id":"1","data":{"t":"x","d":['
    return masked(2, message(f"{begins}{lists}]}}}}"))


class Flood:
    """One client's connections, made until a time."""

    def __init__(self, port: int, until: float) -> None:
        self.port, self.until = port, until
        self.ends: Counter[str] = Counter()
        self.connects = 0

    @property
    def over(self) -> bool:
        return time.monotonic() > self.until

    async def calls(self, pieces: Callable[[], Iterator[bytes]], every: float = 0.0) -> None:
        """Call, send the pieces, and so on."""
        await self.connections(lambda: _after_ready(pieces()), every, shake=SHAKE)

    async def connections(
        self, pieces: Callable[[], Iterator[bytes]], every: float = 0.0, *, shake: bytes = b"", reads: bool = True
    ) -> None:
        """Connect, send the pieces, each after `every` seconds, until the server closes; and so on."""
        while not self.over:
            self.connects += 1
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            except OSError as error:
                self.ends[type(error).__name__] += 1
                await asyncio.sleep(0.01)
                continue
            writer.write(shake)
            if shake:
                with suppress(OSError, EOFError):
                    await reader.readuntil(b"\r\n\r\n")
            reading = asyncio.create_task(self._read(reader, framed=bool(shake)) if reads else asyncio.sleep(1e9))
            with suppress(OSError):
                for piece in pieces():
                    if self.over or reading.done():
                        break
                    writer.write(piece)
                    await writer.drain()
                    await asyncio.sleep(every)
            if not self.over:
                with suppress(TimeoutError):
                    async with asyncio.timeout(1):
                        await asyncio.shield(reading)
            reading.cancel()
            writer.close()
            with suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _read(self, reader: asyncio.StreamReader, *, framed: bool) -> None:
        """Read until the server closes, and count how it did."""
        end = "dropped"
        try:
            if not framed:
                while data := await reader.read(1 << 16):
                    end = data[9:12].decode("latin-1") if data[:5] == b"HTTP/" else end
            else:
                while True:
                    first, second = await reader.readexactly(2)
                    length = second & 127
                    if length > 125:
                        wide = "!H" if length == 126 else "!Q"
                        (length,) = struct.unpack(wide, await reader.readexactly(struct.calcsize(wide)))
                    payload = await reader.readexactly(length)
                    if first & 15 == 8:
                        end = str(int.from_bytes(payload[:2]))
                        break
        except (OSError, EOFError):
            pass
        self.ends[end] += 1


def _after_ready(pieces: Iterator[bytes]) -> Iterator[bytes]:
    yield READY
    yield from pieces


def endless(piece: bytes) -> Callable[[], Iterator[bytes]]:
    """The same again and again."""

    def pieces() -> Iterator[bytes]:
        while True:
            yield piece

    return pieces


def once(piece: bytes) -> Callable[[], Iterator[bytes]]:
    """One piece of each connection."""
    return lambda: iter([piece])


def _text(content: str) -> bytes:
    return rtvi("send-text", {"content": content})


def _many(flood: Flood, count: int, work: Callable[[], Awaitable[None]]) -> Awaitable[list[None]]:
    return asyncio.gather(*(work() for _ in range(count)))


async def _bursts(flood: Flood, shake: bytes) -> None:
    """500 connections within 1.5 s, then a pause of a second; and so on."""

    async def one(delay: float) -> None:
        await asyncio.sleep(delay)
        flood.connects += 1
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(5):
                reader, writer = await asyncio.open_connection("127.0.0.1", flood.port)
                writer.write(shake)
                answer = await reader.read(1 << 12)
                flood.ends[answer[9:12].decode("latin-1") or "dropped"] += 1
                writer.close()

    while not flood.over:
        await asyncio.gather(*(one(number * 0.003) for number in range(500)))
        await asyncio.sleep(1)


async def _held(flood: Flood) -> None:
    """As many connections as there can be, which say nothing."""
    held = []
    while not flood.over:
        try:
            held.append(socket.create_connection(("127.0.0.1", flood.port), timeout=0.5))
        except OSError as error:
            flood.ends[type(error).__name__] += 1
            await asyncio.sleep(0.05)
        flood.connects += 1
        if len(held) >= 400:
            held.pop(0).close()
        await asyncio.sleep(0)


CLOCK = asks("clock", {"client": 1.0})
FLOODS: dict[str, Callable[[Flood], Awaitable[object]]] = {
    "1 MB of JSON, each second": lambda f: f.calls(endless(_large()), 1.0),
    "60 kB of JSON, at once": lambda f: f.calls(endless(asks("x", ["seven"] * 6_000))),
    "nested lists, 100 a second": lambda f: f.calls(endless(nested(900, 20)), 0.01),
    "shallow lists, 100 a second": lambda f: f.calls(endless(nested(6, 4_000)), 0.01),
    "clock echoes 50 kB": lambda f: f.calls(endless(asks("clock", {"client": [[1, 2]] * 6_000})), 0.01),
    "4,000 pings at once": lambda f: f.calls(endless(masked(9, b"x") * 4_000)),
    "4,000 pongs at once": lambda f: f.calls(endless(masked(10, b"") * 4_000)),
    "fragments without end": lambda f: f.calls(lambda: _fragments()),
    "tiny messages": lambda f: f.calls(endless(masked(2, b"") * 4_000)),
    "small audio": lambda f: f.calls(endless(masked(2, audio(bytes(32))) * 500)),
    "audio in large messages": lambda f: f.calls(endless(masked(2, audio(bytes(900_000), rate=44100)))),
    "clock, at once": lambda f: f.calls(endless(CLOCK * 100)),
    "client-ready, at once": lambda f: f.calls(endless(READY * 100)),
    "send-text, at once": lambda f: f.calls(endless(_text("what time is it") * 20), 0.1),
    "interrupt, at once": lambda f: f.calls(endless(asks("interrupt") * 50), 0.1),
    "swaps, at once": lambda f: f.calls(endless(asks("llm", {}) * 50), 0.1),
    "text that is not UTF-8": lambda f: f.calls(endless(masked(1, b"\xff\xfe") * 10)),
    "compressed frames": lambda f: f.calls(endless(masked(2, bytes(9), rsv=4))),
    "messages after a close": lambda f: f.calls(lambda: _closed()),
    "never reads": lambda f: f.connections(lambda: _after_ready(endless(CLOCK)()), 0.001, shake=SHAKE, reads=False),
    "calls that hang up at once": lambda f: _many(f, 4, lambda: f.calls(once(masked(8, b"\x03\xe8")))),
    "500 handshakes within 1.5 s": lambda f: _bursts(f, SHAKE),
    "500 bad handshakes within 1.5 s": lambda f: _bursts(f, SHAKE.replace(b"Version: 13", b"Version: 99")),
    "500 requests within 1.5 s": lambda f: _bursts(f, GET % b"/"),
    "connections that say nothing": _held,
    "GET of the page, 20 connections": lambda f: _many(f, 20, lambda: f.connections(endless(GET % b"/"))),
    "GET of the figures, 20 connections": lambda f: _many(f, 20, lambda: f.connections(endless(GET % b"/metrics"))),
    "60,000 headers": lambda f: f.connections(once(HEADERS)),
    "a header of 250 kB": lambda f: f.connections(once(b"GET / HTTP/1.1\r\nA: " + b"x" * 250_000)),
    "chunks of one byte": lambda f: f.connections(once(CHUNKED)),
    "a body without end": lambda f: f.connections(lambda: _body()),
    "not HTTP": lambda f: _many(f, 4, lambda: f.connections(once(os.urandom(200) + b"\r\n\r\n"))),
}


def _large() -> bytes:
    return asks("x", [{"a": [1, 2, 3]}] * 55_000)


def _fragments() -> Iterator[bytes]:
    yield masked(2, b"", fin=False)
    while True:
        yield masked(0, b"", fin=False) * 1000


def _closed() -> Iterator[bytes]:
    yield masked(2, b"\xff\xfe\xfd")
    while True:
        yield masked(2, audio(bytes(640))) * 100


def _body() -> Iterator[bytes]:
    yield b"POST /start HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999999999\r\n\r\n"
    while True:
        yield bytes(1 << 16)


async def _main(port: int, name: str, seconds: float) -> None:
    flood = Flood(port, time.monotonic() + seconds)
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await FLOODS[name](flood)
    print(json.dumps({"connects": flood.connects, "ends": dict(flood.ends.most_common(4))}))


if __name__ == "__main__":
    asyncio.run(_main(int(sys.argv[1]), sys.argv[2], float(sys.argv[3])))
