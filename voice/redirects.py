"""Redirects are never followed: the key and the conversation are only for the configured server."""

from collections.abc import Mapping
from typing import Any

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import InvalidHandshake, InvalidStatus

from voice.redaction import quoted


def redirect_words(status: int, headers: Mapping[str, str]) -> str | None:
    """A phrase about a server's redirect that follows its name; None if it does not redirect."""
    location = headers.get("Location") if 300 <= status < 400 else None
    return location and f"answered HTTP {status} with a redirect to {quoted(location)}, which is not followed"


class Redirected(InvalidHandshake):
    """A server redirects a WebSocket; the words are those of `redirect_words`."""


class DirectConnection(ClientConnection):
    """A WebSocket that opens only at its requested address."""

    async def handshake(self, *args: Any, **kwargs: Any) -> None:
        """Open the WebSocket.

        Raises:
            Redirected: the server redirects it.
        """
        try:
            await super().handshake(*args, **kwargs)
        except InvalidStatus as error:
            if words := redirect_words(error.response.status_code, error.response.headers):
                raise Redirected(words) from error
            raise
