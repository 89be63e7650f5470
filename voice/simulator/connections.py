"""The server's TCP connections: which one a request came on, whether it is new, and how to reset it."""

import asyncio
import socket
import struct
from collections.abc import Iterator, MutableMapping
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

_RESET = struct.pack("ii", 1, 0)  # linger on, for 0 s: close sends RST


class Connection:
    """One client's connection; `number` counts from 1, `requests` those it has carried."""

    def __init__(self, number: int, transport: asyncio.Transport) -> None:
        self.number = number
        self.requests = 0
        self._transport = transport

    def reset(self) -> None:
        """Break it the way a crashed server does: what is under way is lost, no goodbye."""
        self._transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self._transport.abort()


class Connections:
    """All open connections by the client's address, which a request's scope carries too."""

    def __init__(self) -> None:
        self.opened = 0
        self._open: dict[tuple[str, int], Connection] = {}

    def __len__(self) -> int:
        return len(self._open)

    def __iter__(self) -> Iterator[Connection]:
        return iter(tuple(self._open.values()))

    def of(self, scope: MutableMapping[str, Any]) -> Connection:
        """The connection that a request came on."""
        return self._open[tuple(scope["client"])]

    def add(self, transport: asyncio.Transport) -> None:
        """A client has connected."""
        self.opened += 1
        self._open[_address(transport)] = Connection(self.opened, transport)

    def remove(self, client: tuple[str, int]) -> None:
        """A client has gone; uvicorn tells that of HTTP connections, a WebSocket's handler has to."""
        self._open.pop(client, None)

    def protocol(self) -> type[H11Protocol]:
        """Uvicorn's HTTP protocol, which also keeps this list."""
        connections = self

        class Counted(H11Protocol):
            def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
                connections.add(transport)
                super().connection_made(transport)

            def connection_lost(self, exc: Exception | None) -> None:
                super().connection_lost(exc)
                connections.remove(_address(self.transport))

        return Counted


def _address(transport: asyncio.Transport) -> tuple[str, int]:
    host, port = transport.get_extra_info("peername")[:2]
    return str(host), int(port)
