"""What the simulator's wires over HTTP have in common: reads a request, refuses it or has it answered."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Generic, Protocol, TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from voice.errors import ConfigurationError
from voice.simulator.http_call import Asked, HttpCall, Reply
from voice.simulator.journal import Exchange, Wire
from voice.simulator.simulator import ServedModel, Simulator
from voice.simulator.url_options import url_options
from voice.simulator.wire_errors import status_of


class HttpAsked(Asked, Protocol):
    """A request over HTTP."""

    @property
    def model(self) -> str:
        """The model, as the client wrote it."""

    @property
    def speed(self) -> str | None:
        """The speed that it asks for, by its name in the profiles; None for the usual one."""


A = TypeVar("A", bound=HttpAsked)


class HttpWire(ABC, Generic[A]):
    """The ASGI application of one wire."""

    wire: ClassVar[Wire]
    """Its name in the journal."""

    def __init__(self, simulator: Simulator) -> None:
        self.simulator = simulator

    @abstractmethod
    def read(self, body: object, headers: Mapping[str, str]) -> A:
        """Read a request from its decoded body.

        Raises:
            ConfigurationError: the request cannot be served.
        """

    @abstractmethod
    def refuse(self, status: int, message: str | None, served: ServedModel | None) -> Response:
        """An error response; the wire has words of its own if no message is given."""

    @abstractmethod
    def reply(
        self, asked: A, served: ServedModel, exchange: Exchange, tool: str | None, to: tuple[Scope, Receive, Send]
    ) -> Reply:
        """What sends the answer, which calls the tool of this name if there is one."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        connection = self.simulator.connections.of(scope)
        connection.requests += 1
        request = Request(scope, receive)
        try:
            body = await request.body()
        except ClientDisconnect:
            return
        try:
            asked = self.read(json.loads(body), request.headers)
            served = self.simulator.serve(asked.model, url_options(scope), speed=asked.speed)
        except ConfigurationError as error:
            await self.refuse(status_of(error), str(error), None)(scope, receive, send)
            return
        except (ValueError, RecursionError) as error:
            # Half a character, or nested too deeply.
            await self.refuse(400, f"The body is not JSON: {error}.", None)(scope, receive, send)
            return
        exchange = self.simulator.journal.begin(
            self.wire,
            served.name,
            fault=served.fault,
            connection=connection.number,
            opened=connection.requests == 1,
            bytes_in=len(body),
            speed=served.speed,
        )
        if not served.admit():
            self.simulator.journal.end(exchange, "failed")
            await self.refuse(429, None, served)(scope, receive, send)
            return
        call = HttpCall(self.simulator, asked, served, exchange, connection)
        reply = self.reply(asked, served, exchange, call.answer.tool, (scope, receive, send))
        await call.serve(reply, receive)
