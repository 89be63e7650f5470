"""Sends a Chat Completions answer: whole, as server-sent events, or as an error."""

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from voice.simulator.chat.completion import Completion, event
from voice.simulator.event_stream import EventStream
from voice.simulator.wire_errors import error_body, refusal


class WholeReply:
    """Sends the whole response once it is complete.

    Args:
        completion: writes the response.
        scope, receive, send: of the request.
        headers: more headers of the response.
    """

    def __init__(
        self, completion: Completion, scope: Scope, receive: Receive, send: Send, *, headers: Mapping[str, str]
    ) -> None:
        self._completion, self._headers = completion, headers
        self._answered = (scope, receive, send)
        self._pieces: list[str] = []

    async def text(self, text: str) -> None:
        """Keep a piece of the answer."""
        self._pieces.append(text)

    async def thought(self, text: str) -> None:
        """Do nothing: this wire keeps what a model thinks to itself."""

    async def alive(self) -> None:
        """Do nothing: a whole response shows no sign of life before its end."""

    async def fail(self, status: int, message: str | None) -> None:
        """Answer with an error."""
        await refusal(status, message)(*self._answered)

    async def complete(self, *, cut_off: bool) -> None:
        """Send the response."""
        whole = self._completion.whole("".join(self._pieces), cut_off=cut_off)
        await JSONResponse(whole, headers=dict(self._headers))(*self._answered)


class StreamedReply:
    """Sends server-sent events; the arguments are those of `WholeReply`."""

    def __init__(
        self, completion: Completion, scope: Scope, receive: Receive, send: Send, *, headers: Mapping[str, str]
    ) -> None:
        self._completion = completion
        self._answered = (scope, receive, send)
        self._stream = EventStream(send, headers)

    async def text(self, text: str) -> None:
        """Send a piece of the answer."""
        await self._events([self._completion.piece(text)])

    async def thought(self, text: str) -> None:
        """Do nothing: this wire keeps what a model thinks to itself."""

    async def alive(self) -> None:
        """Send a comment and a chunk without text."""
        await self._events([self._completion.piece("")], before=b": alive\n\n")

    async def fail(self, status: int, message: str | None) -> None:
        """Answer with an error status or, once the stream is open, send an error event."""
        if self._stream.is_open:
            await self._stream.write(event({"error": error_body(status, message=message)}), last=True)
        else:
            await refusal(status, message)(*self._answered)

    async def complete(self, *, cut_off: bool) -> None:
        """End the stream."""
        await self._events(self._completion.closing(cut_off=cut_off))
        await self._stream.write(b"data: [DONE]\n\n", last=True)

    async def _events(self, chunks: Sequence[Mapping[str, Any]], *, before: bytes = b"") -> None:
        if not self._stream.is_open:
            chunks = [*self._completion.opening(), *chunks]
        await self._stream.write(before + b"".join(event(chunk) for chunk in chunks))
