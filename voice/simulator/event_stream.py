"""A response of server-sent events; its headers are sent with the first of them."""

from collections.abc import Mapping

from starlette.types import Send

_KIND = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}


class EventStream:
    """Writes the body of a response while it is produced.

    Args:
        send: of the request's ASGI application.
        headers: more headers of the response.
    """

    def __init__(self, send: Send, headers: Mapping[str, str]) -> None:
        self._send = send
        self._headers = {**_KIND, **headers}
        self.is_open = False

    async def write(self, data: bytes, *, last: bool = False) -> None:
        """Send some of the body; the first call opens the response."""
        if not self.is_open:
            self.is_open = True
            headers = [(name.encode(), value.encode()) for name, value in self._headers.items()]
            await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        await self._send({"type": "http.response.body", "body": data, "more_body": not last})
