"""Sends a message: whole, as server-sent events, or as an error."""

from collections.abc import Mapping, Sequence

from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from voice.simulator.event_stream import EventStream
from voice.simulator.messages.errors import error_body, refusal
from voice.simulator.messages.events import PING, Event, MessageWriter, sse


class WholeReply:
    """Sends the whole message once it is complete.

    Args:
        writer: writes the message.
        scope, receive, send: of the request.
        headers: more headers of the response.
    """

    def __init__(
        self, writer: MessageWriter, scope: Scope, receive: Receive, send: Send, *, headers: Mapping[str, str]
    ) -> None:
        self._writer, self._headers = writer, headers
        self._answered = (scope, receive, send)
        self._text = self._thought = ""

    async def text(self, text: str) -> None:
        """Keep a piece of the answer."""
        self._text += text

    async def thought(self, text: str) -> None:
        """Keep a piece of what the model thinks."""
        self._thought += text

    async def alive(self) -> None:
        """Do nothing: a whole message shows no sign of life before its end."""

    async def fail(self, status: int, message: str | None) -> None:
        """Answer with an error."""
        await refusal(status, message)(*self._answered)

    async def complete(self, *, cut_off: bool) -> None:
        """Send the message."""
        whole = self._writer.whole(self._thought, self._text, cut_off=cut_off)
        await JSONResponse(whole, headers=dict(self._headers))(*self._answered)


class StreamedReply:
    """Sends server-sent events; the arguments are those of `WholeReply`."""

    def __init__(
        self, writer: MessageWriter, scope: Scope, receive: Receive, send: Send, *, headers: Mapping[str, str]
    ) -> None:
        self._writer = writer
        self._answered = (scope, receive, send)
        self._stream = EventStream(send, headers)

    async def text(self, text: str) -> None:
        """Send a piece of the answer."""
        await self._events(self._writer.piece(text))

    async def thought(self, text: str) -> None:
        """Send a piece of what the model thinks."""
        await self._events(self._writer.thought(text))

    async def alive(self) -> None:
        """Send a ping."""
        await self._events([PING])

    async def fail(self, status: int, message: str | None) -> None:
        """Answer with an error status or, once the stream is open, send an `error` event."""
        if self._stream.is_open:
            await self._stream.write(sse(error_body(status, message)), last=True)
        else:
            await refusal(status, message)(*self._answered)

    async def complete(self, *, cut_off: bool) -> None:
        """End the message."""
        await self._events(self._writer.closing(cut_off=cut_off), last=True)

    async def _events(self, events: Sequence[Event], *, last: bool = False) -> None:
        if not self._stream.is_open:
            events = [*self._writer.opening(), *events]
        await self._stream.write(b"".join(map(sse, events)), last=last)
