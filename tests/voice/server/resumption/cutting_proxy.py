"""A TCP proxy on loopback that breaks connections."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress


class CuttingProxy:
    """Passes bytes on to a port; `cut` breaks all connections at once, `freeze` passes nothing on any more."""

    def __init__(self, port: int) -> None:
        self.to, self.port, self.connections = port, 0, 0
        self._writers: set[asyncio.StreamWriter] = set()
        self._frozen: set[asyncio.StreamWriter] = set()
        self.closed = False
        self.server: asyncio.Server | None = None

    def stop_listening(self) -> None:
        if self.server:
            self.server.close()

    def cut(self) -> None:
        for writer in self._writers:
            writer.transport.abort()

    def freeze(self) -> None:
        self._frozen |= self._writers

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.closed:
            writer.transport.abort()
            return
        self.connections += 1
        there, back = await asyncio.open_connection("127.0.0.1", self.to)
        self._writers |= {writer, back}
        await asyncio.gather(self._pass(reader, back), self._pass(there, writer))
        self._writers -= {writer, back}

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(700):
                if writer not in self._frozen:
                    writer.write(data)
                    await writer.drain()
        if writer not in self._frozen:
            writer.transport.abort()


@asynccontextmanager
async def proxy_to(port: int) -> AsyncIterator[CuttingProxy]:
    proxy = CuttingProxy(port)
    server = await asyncio.start_server(proxy._serve, "127.0.0.1", 0)
    proxy.server = server
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        proxy.cut()
