"""Sends a Chat Completions answer: whole, as server-sent events, or as an error."""

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from voice.simulator.chat.completion import Completion, event
from voice.simulator.wire_errors import error_body, refusal

_EVENT_STREAM = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"cache-control", b"no-cache")]


class WholeReply:
    """Sends the whole response once it is complete."""

    def __init__(self, completion: Completion, scope: Scope, receive: Receive, send: Send) -> None:
        self._completion = completion
        self._answered = (scope, receive, send)
        self._pieces: list[str] = []

    async def text(self, text: str) -> None:
        """Keep a piece of the answer."""
        self._pieces.append(text)

    async def alive(self) -> None:
        """Do nothing: a whole response shows no sign of life before its end."""

    async def fail(self, status: int) -> None:
        """Answer with an error."""
        await refusal(status)(*self._answered)

    async def complete(self, *, cut_off: bool, usage: Mapping[str, Any]) -> None:
        """Send the response."""
        whole = self._completion.whole("".join(self._pieces), cut_off=cut_off, usage=usage)
        await JSONResponse(whole)(*self._answered)


class StreamedReply:
    """Sends server-sent events; the headers are sent with the first event."""

    def __init__(self, completion: Completion, scope: Scope, receive: Receive, send: Send) -> None:
        self._completion = completion
        self._answered = (scope, receive, send)
        self._send = send
        self._open = False

    async def text(self, text: str) -> None:
        """Send a piece of the answer."""
        await self._events([self._completion.piece(text)])

    async def alive(self) -> None:
        """Send a comment and a chunk without text."""
        await self._events([self._completion.piece("")], before=b": alive\n\n")

    async def fail(self, status: int) -> None:
        """Answer with an error status or, once the stream is open, send an error event."""
        if self._open:
            await self._body(event({"error": error_body(status)}), last=True)
        else:
            await refusal(status)(*self._answered)

    async def complete(self, *, cut_off: bool, usage: Mapping[str, Any]) -> None:
        """End the stream."""
        await self._events(self._completion.closing(cut_off=cut_off, usage=usage))
        await self._body(b"data: [DONE]\n\n", last=True)

    async def _events(self, chunks: Sequence[Mapping[str, Any]], *, before: bytes = b"") -> None:
        if not self._open:
            self._open = True
            await self._send({"type": "http.response.start", "status": 200, "headers": _EVENT_STREAM})
            chunks = [*self._completion.opening(), *chunks]
        await self._body(before + b"".join(event(chunk) for chunk in chunks))

    async def _body(self, data: bytes, *, last: bool = False) -> None:
        await self._send({"type": "http.response.body", "body": data, "more_body": not last})
