"""The server's TCP connections: finds the one a request came on, counts its requests, and resets it."""

import asyncio
import socket
import struct
from collections.abc import Iterator, MutableMapping
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

_RESET = struct.pack("ii", 1, 0)  # SO_LINGER on with 0 s: closing sends RST


class Connection:
    """A client's connection; `number` counts connections from 1, `requests` the requests that it has carried."""

    def __init__(self, number: int, transport: asyncio.Transport) -> None:
        self.number = number
        self.requests = 0
        self._transport = transport

    def reset(self) -> None:
        """Break the connection as a crashed server does: data under way is lost, and there is no closing handshake."""
        self._transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self._transport.abort()


class Connections:
    """All open connections by the client's address, which is also in a request's scope."""

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
        """Add the connection of a client that has connected."""
        self.opened += 1
        self._open[_address(transport)] = Connection(self.opened, transport)

    def remove(self, client: tuple[str, int]) -> None:
        """Remove a client's connection. For HTTP this class does it; a WebSocket's handler must call it."""
        self._open.pop(client, None)

    def protocol(self) -> type[H11Protocol]:
        """Uvicorn's HTTP protocol class, extended to keep this list up to date."""
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
