"""A TCP proxy on loopback that mistreats what passes through it."""

import asyncio
import random
from contextlib import suppress
from typing import Literal

Mode = Literal["passes", "freezes", "slow", "broken json", "broken bytes", "status 502", "status 429", "resets"]
DELAY = 0.7
"""Seconds by which each piece is late when it is slow."""
STATUS = {
    "status 502": b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n",
    "status 429": b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n",
}


class StreamProxy:
    """Passes bytes on to a port of this machine, in the way that `mode` says.

    Args:
        to: the port.
    """

    def __init__(self, to: int) -> None:
        self.to, self.port = to, 0
        self.mode: Mode = "passes"
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._rng = random.Random(1)

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    def close(self) -> None:
        assert self._server is not None
        self._server.close()
        self.cut()

    def cut(self) -> None:
        """Reset all connections."""
        for writer in self._writers:
            writer.transport.abort()

    def send_garbage(self) -> None:
        """Put bytes into both directions that are no message of any protocol."""
        for writer in self._writers:
            writer.write(self._rng.randbytes(400))

    def mend(self) -> None:
        """Pass everything on from now on; what was frozen has lost bytes and is reset."""
        if self.mode in ("freezes", "broken bytes"):
            self.cut()
        self.mode = "passes"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.mode == "resets":
            writer.transport.abort()
            return
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self.to)
        except OSError:
            writer.transport.abort()
            return
        both = {writer, back}
        self._writers |= both
        try:
            await asyncio.gather(self._up(reader, back, writer), self._down(there, writer))
        finally:
            self._writers -= both
            for one in both:
                one.transport.abort()

    async def _up(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, client: asyncio.StreamWriter
    ) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(1 << 16):
                if self.mode == "resets":
                    break
                if status := STATUS.get(self.mode):
                    if data.startswith(b"POST"):
                        client.write(status)
                elif self.mode != "freezes":
                    writer.write(data)
                    await writer.drain()
        writer.transport.abort()

    async def _down(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(1 << 16):
                if self.mode == "slow":
                    await asyncio.sleep(DELAY)
                if self.mode == "freezes":
                    continue
                writer.write(self._changed(data))
                await writer.drain()
        # What is frozen does not even end.
        if self.mode != "freezes":
            writer.transport.abort()

    def _changed(self, data: bytes) -> bytes:
        if self.mode == "broken json":
            return data.replace(b'"choices":', b'"choices"!')
        return self._rng.randbytes(len(data)) if self.mode == "broken bytes" else data
