"""A WebSocket that carries JSON objects."""

import json
from collections.abc import Mapping
from typing import Any

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from voice.client.call.agent_call import CallOver
from voice.client.call.connection import check_url, close_reason, open_socket
from voice.errors import WireError


class JsonSocket:
    """The socket of a call.

    Args:
        url: `ws://…` or `wss://…`.
        headers: of the request, with credentials.

    Raises:
        ConfigurationError: the URL is not a WebSocket address.
    """

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        check_url(url)
        self._url, self._headers = url, headers
        self._socket: ClientConnection | None = None

    async def open(self) -> None:
        """Connect.

        Raises:
            CallRefused, ComponentError: see `open_socket`.
        """
        self._socket = await open_socket(self._url, self._headers)

    async def send(self, message: Mapping[str, Any]) -> None:
        """Send an object.

        Raises:
            CallOver: there is no connection any more.
        """
        try:
            await self._connected.send(json.dumps(message))
        except ConnectionClosed:
            raise CallOver(close_reason(self._connected)) from None

    async def receive(self) -> dict[str, Any]:
        """The server's next object.

        Raises:
            CallOver: there is no connection any more.
            WireError: the server sent something else.
        """
        try:
            data = await self._connected.recv()
        except ConnectionClosed:
            raise CallOver(close_reason(self._connected)) from None
        try:
            message = json.loads(data)
        except (ValueError, RecursionError):
            raise WireError(f"The server sent {len(data)} bytes that are not JSON; is this its protocol?") from None
        if not isinstance(message, dict):
            raise WireError("The server sent JSON that is not an object; is this its protocol?")
        return message

    async def close(self) -> None:
        """Hang up."""
        if self._socket is not None:
            await self._socket.close()

    @property
    def _connected(self) -> ClientConnection:
        assert self._socket is not None
        return self._socket
