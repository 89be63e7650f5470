"""The server's TCP connections: finds the one that a request came on, counts its requests and resets it."""

import asyncio
import socket
import struct
from collections.abc import Iterator, MutableMapping
from typing import Any
from urllib.parse import parse_qsl

from voice.server.connections import TolerantHTTP

_RESET = struct.pack("ii", 1, 0)  # SO_LINGER on with 0 s: closing sends RST

OPTIONS_PATH = "/with/{options}"
"""The path before `/v1` that carries options, for clients that accept only a base URL:
`http://127.0.0.1:8900/with/model=sonnet&fault=refuse/v1`."""


class ClientGoneError(Exception):
    """The client has broken its connection before its request was handled."""


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
        """The connection that a request came on.

        Raises:
            ClientGoneError: it is no longer there.
        """
        # uvicorn knows no address if the client had gone before its connection was accepted.
        found = self._open.get(tuple(scope["client"] or ()))
        if found is None:
            raise ClientGoneError
        return found

    def add(self, transport: asyncio.Transport) -> None:
        """Add the connection of a client that has connected."""
        self.opened += 1
        if client := _address(transport):
            self._open[client] = Connection(self.opened, transport)

    def remove(self, client: tuple[str, int]) -> None:
        """Remove a client's connection. For HTTP this class does it; a WebSocket's handler must call it."""
        self._open.pop(client, None)

    def protocol(self) -> type[TolerantHTTP]:
        """Uvicorn's HTTP protocol class, extended to keep this list up to date."""
        connections = self

        class Counted(TolerantHTTP):
            def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
                connections.add(transport)
                super().connection_made(transport)

            def connection_lost(self, exc: Exception | None) -> None:
                super().connection_lost(exc)
                if client := _address(self.transport):
                    connections.remove(client)

        return Counted


def url_options(scope: MutableMapping[str, Any]) -> dict[str, str]:
    """The options in the URL of a request or WebSocket, by name; the query takes precedence over the path."""
    in_path = parse_qsl(scope.get("path_params", {}).get("options", ""), keep_blank_values=True)
    in_query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    return dict(in_path) | dict(in_query)


def _address(transport: asyncio.Transport) -> tuple[str, int] | None:
    """The client's address; None when it had gone before its connection was accepted."""
    found = transport.get_extra_info("peername")
    return (str(found[0]), int(found[1])) if found else None
