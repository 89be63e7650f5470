"""A wire over HTTP: reads a request, refuses it or has it answered, and notices a cancellation."""

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from pipelines.lab.simulator.call import Call
from pipelines.lab.simulator.connections import Connection, url_options
from pipelines.lab.simulator.conversation import ModelRequest
from pipelines.lab.simulator.errors import status_of
from pipelines.lab.simulator.journal import Exchange, Wire
from pipelines.lab.simulator.simulator import ServedModel, Simulator
from voice.errors import ConfigurationError

_EVENTS = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}


class Writer(ABC):
    """Writes an answer in the form of its wire: as server-sent events, each method some of them, or whole. Pure."""

    @abstractmethod
    def opening(self) -> bytes:
        """The events before the first text."""

    @abstractmethod
    def text(self, text: str) -> bytes:
        """A piece of the answer, or of the arguments of the tool call."""

    def thought(self, text: str) -> bytes:
        """A piece of the model's thoughts; empty on a wire that hides them."""
        return b""

    @abstractmethod
    def alive(self) -> bytes:
        """A sign of life without text."""

    @abstractmethod
    def error(self, status: int, message: str | None) -> bytes:
        """An error in the middle of the answer."""

    @abstractmethod
    def closing(self, *, cut_off: bool) -> bytes:
        """The events after the last text."""

    @abstractmethod
    def whole(self, thought: str, text: str, *, cut_off: bool) -> dict[str, Any]:
        """The response without streaming."""


class HttpWire(ABC):
    """The ASGI application of one wire."""

    wire: ClassVar[Wire]
    """Its name in the journal."""

    def __init__(self, simulator: Simulator) -> None:
        self.simulator = simulator

    @abstractmethod
    def read(self, body: object, headers: Mapping[str, str]) -> ModelRequest:
        """Read a request from its decoded body.

        Raises:
            ConfigurationError: the request cannot be served.
        """

    @abstractmethod
    def refuse(self, status: int, message: str | None, served: ServedModel | None = None) -> Response:
        """An error response, with the wire's own message unless one is given."""

    @abstractmethod
    def writer(self, request: ModelRequest, served: ServedModel, exchange: Exchange, tool: str | None) -> Writer:
        """The writer of an answer, which calls the tool of this name if there is one."""

    @abstractmethod
    def headers(self, served: ServedModel) -> dict[str, str]:
        """The headers of a response with the rest of the limits."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        connection = self.simulator.connections.of(scope)
        connection.requests += 1
        received = Request(scope, receive)
        try:
            body = await received.body()
        except ClientDisconnect:
            return
        try:
            request = self.read(json.loads(body), received.headers)
            served = self.simulator.serve(request.model, url_options(scope), speed=request.speed)
        except ConfigurationError as error:
            await self.refuse(status_of(error), str(error))(scope, receive, send)
            return
        except (ValueError, RecursionError) as error:
            # Half a character, or nested too deeply.
            await self.refuse(400, f"The body is not JSON: {error}.")(scope, receive, send)
            return
        exchange = self.simulator.begin(self.wire, served, connection, size=len(body))
        if not served.admit():
            self.simulator.journal.end(exchange, "failed")
            await self.refuse(429, None, served)(scope, receive, send)
            return
        await self._answer(request, served, exchange, connection, (scope, receive, send))

    async def _answer(
        self,
        request: ModelRequest,
        served: ServedModel,
        exchange: Exchange,
        connection: Connection,
        asgi: tuple[Scope, Receive, Send],
    ) -> None:
        """Answer until the answer is complete or the client has closed the connection."""
        # Loopback opens connections at once, so the first request waits for the time of a real opening.
        start = asyncio.get_running_loop().time() + (served.opening(websocket=False) if exchange.opened else 0.0)
        call = Call(self.simulator, request, request.messages, served=served, exchange=exchange, connection=connection)
        # Cached tokens do not count against the limits.
        served.spend(given=(exchange.input_tokens or 0) - (exchange.cached_tokens or 0))
        writer = self.writer(request, served, exchange, call.answer.tool)
        reply = (StreamedReply if request.stream else WholeReply)(self, writer, asgi, self.headers(served))
        answering = asyncio.create_task(call.send(reply, start=start))
        leaving = asyncio.create_task(_gone(asgi[1]))
        try:
            await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                self.simulator.journal.end(exchange, "cancelled")
        finally:
            answering.cancel()
            leaving.cancel()
            await asyncio.gather(answering, leaving, return_exceptions=True)
            served.spend(output=exchange.tokens_sent + exchange.thought_tokens)
        if not answering.cancelled():
            answering.result()


class WholeReply:
    """Sends the whole response once it is complete.

    Args:
        wire: writes errors.
        writer: writes the response.
        asgi: scope, receive and send of the request.
        headers: more headers of the response.
    """

    def __init__(
        self, wire: HttpWire, writer: Writer, asgi: tuple[Scope, Receive, Send], headers: Mapping[str, str]
    ) -> None:
        self._wire, self._writer, self._asgi, self._headers = wire, writer, asgi, headers
        self._text = self._thought = ""

    async def text(self, text: str) -> None:
        """Keep a piece of the answer."""
        self._text += text

    async def thought(self, text: str) -> None:
        """Keep a piece of the model's thoughts."""
        self._thought += text

    async def alive(self) -> None:
        """Do nothing: a whole response shows no sign of life before its end."""

    async def fail(self, status: int, message: str | None) -> None:
        """Answer with an error."""
        await self._wire.refuse(status, message)(*self._asgi)

    async def complete(self, *, cut_off: bool) -> None:
        """Send the response."""
        whole = self._writer.whole(self._thought, self._text, cut_off=cut_off)
        await JSONResponse(whole, headers=dict(self._headers))(*self._asgi)


class StreamedReply:
    """Sends server-sent events; the headers are sent with the first of them. The arguments are `WholeReply`'s."""

    def __init__(
        self, wire: HttpWire, writer: Writer, asgi: tuple[Scope, Receive, Send], headers: Mapping[str, str]
    ) -> None:
        self._wire, self._writer, self._asgi = wire, writer, asgi
        self._headers = [(name.encode(), value.encode()) for name, value in {**_EVENTS, **headers}.items()]
        self._is_open = False

    async def text(self, text: str) -> None:
        """Send a piece of the answer."""
        await self._send(self._writer.text(text))

    async def thought(self, text: str) -> None:
        """Send a piece of the model's thoughts, if the wire shows them."""
        if events := self._writer.thought(text):
            await self._send(events)

    async def alive(self) -> None:
        """Send a sign of life."""
        await self._send(self._writer.alive())

    async def fail(self, status: int, message: str | None) -> None:
        """Answer with an error status or, once the stream is open, send an error event."""
        if self._is_open:
            await self._send(self._writer.error(status, message), last=True)
        else:
            await self._wire.refuse(status, message)(*self._asgi)

    async def complete(self, *, cut_off: bool) -> None:
        """End the stream."""
        await self._send(self._writer.closing(cut_off=cut_off), last=True)

    async def _send(self, events: bytes, *, last: bool = False) -> None:
        send = self._asgi[2]
        if not self._is_open:
            self._is_open = True
            events = self._writer.opening() + events
            await send({"type": "http.response.start", "status": 200, "headers": self._headers})
        await send({"type": "http.response.body", "body": events, "more_body": not last})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
