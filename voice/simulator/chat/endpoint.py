"""The Chat Completions endpoint: sends answers at the latency model's times and notices cancellations."""

import asyncio
import json
from collections.abc import Coroutine, Iterator
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive, Scope, Send

from voice.errors import ConfigurationError
from voice.simulator.chat.completion import Completion, usage
from voice.simulator.chat.reply import StreamedReply, WholeReply
from voice.simulator.chat.request import ChatRequest, read_request
from voice.simulator.connections import Connection
from voice.simulator.conversation import tokens
from voice.simulator.journal import Exchange
from voice.simulator.simulator import ServedModel, Simulator
from voice.simulator.timing.prefix_cache import read_prefix
from voice.simulator.timing.timetable import Action, Failure, Hang, KeepAlive, ResetConnection, SendText, timetable
from voice.simulator.url_options import url_options
from voice.simulator.wire_errors import refusal, status_of


class ChatCompletions:
    """The ASGI application of `POST /v1/chat/completions`."""

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        connection = self._simulator.connections.of(scope)
        connection.requests += 1
        request = Request(scope, receive)
        try:
            body = await request.body()
        except ClientDisconnect:
            return
        try:
            asked = read_request(json.loads(body))
            served = self._simulator.serve(asked.model, url_options(scope))
        except json.JSONDecodeError as error:
            await refusal(400, f"The body is not JSON: {error}.")(scope, receive, send)
            return
        except ConfigurationError as error:
            await refusal(status_of(error), str(error))(scope, receive, send)
            return
        exchange = self._simulator.journal.begin(
            "chat",
            served.name,
            fault=served.fault,
            connection=connection.number,
            opened=connection.requests == 1,
            bytes_in=len(body),
        )
        call = ChatCall(self._simulator, asked, served, exchange, connection)
        await self._until_gone(call.run(scope, receive, send), receive, exchange)

    async def _until_gone(self, serving: Coroutine[Any, Any, None], receive: Receive, exchange: Exchange) -> None:
        """Serve until the answer is complete or the client has closed the connection."""
        answering = asyncio.create_task(serving)
        leaving = asyncio.create_task(_gone(receive))
        try:
            await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                self._simulator.journal.end(exchange, "cancelled")
        finally:
            answering.cancel()
            leaving.cancel()
            await asyncio.gather(answering, leaving, return_exceptions=True)
        if not answering.cancelled():
            answering.result()


class ChatCall:
    """Answers one request."""

    def __init__(
        self, simulator: Simulator, asked: ChatRequest, served: ServedModel, exchange: Exchange, connection: Connection
    ) -> None:
        self._simulator = simulator
        self._asked = asked
        self._served = served
        self._exchange = exchange
        self._connection = connection

    async def run(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the answer at the times of the timetable."""
        loop, journal = asyncio.get_running_loop(), self._simulator.journal
        # Loopback opens connections at once, so the first request waits for as long as a real opening takes.
        opening = self._served.opening(websocket=False) if self._exchange.opened else 0.0
        start = loop.time() + opening
        answer = self._simulator.answer(self._asked.messages, self._asked.tools)
        full = tokens(answer.text)
        kept = full[: self._asked.max_tokens]
        actions = self._timetable("".join(kept))
        completion = Completion(self._asked, self._served.name, self._exchange.number, answer.tool)
        reply = (StreamedReply if self._asked.stream else WholeReply)(completion, scope, receive, send)
        for action in actions:
            await asyncio.sleep(start + action.at - loop.time())
            match action:
                case SendText():
                    await reply.text(action.text)
                    journal.sent(self._exchange, action.tokens)
                case KeepAlive():
                    await reply.alive()
                case Failure():
                    journal.end(self._exchange, "failed")
                    await reply.fail(action.status)
                    return
                case ResetConnection():
                    journal.end(self._exchange, "cut")
                    self._connection.reset()
                    return
                case Hang():
                    await asyncio.Event().wait()
        journal.end(self._exchange, "completed")
        await reply.complete(cut_off=len(kept) < len(full), usage=self._usage())

    def _timetable(self, text: str) -> Iterator[Action]:
        uncached = read_prefix(self._served.cache, self._exchange, self._asked.fixed, self._asked.messages)
        return timetable(
            text,
            self._served.latency,
            now=self._exchange.requested,
            uncached_tokens=uncached,
            fault=self._served.fault,
            fault_after=self._served.after,
        )

    def _usage(self) -> dict[str, Any]:
        exchange = self._exchange
        return usage(
            prompt=exchange.input_tokens or 0, cached=exchange.cached_tokens or 0, completion=exchange.tokens_sent
        )


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
