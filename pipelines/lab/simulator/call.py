"""Answers one request, on any wire, at the times of its model's timetable."""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from pipelines.lab.simulator.connections import Connection
from pipelines.lab.simulator.conversation import Message, ModelRequest, tokens
from pipelines.lab.simulator.journal import Exchange
from pipelines.lab.simulator.prefix_cache import PrefixCache
from pipelines.lab.simulator.simulator import ServedModel, Simulator
from pipelines.lab.simulator.timetable import (
    Failure,
    Hang,
    KeepAlive,
    ResetConnection,
    SendText,
    SendThought,
    timetable,
)


class Reply(Protocol):
    """Sends an answer in the form of its wire."""

    async def text(self, text: str) -> None:
        """Send a piece of the answer, or of the arguments of the tool call."""

    async def thought(self, text: str) -> None:
        """Send a piece of the model's thoughts."""

    async def alive(self) -> None:
        """Send a sign of life without text."""

    async def fail(self, status: int, message: str | None) -> None:
        """Report an error; nothing follows."""

    async def complete(self, *, cut_off: bool) -> None:
        """End the answer, which is cut off if it reached the longest allowed length."""


class Call:
    """One request, whose prompt is read now.

    Args:
        simulator: the simulator that answers.
        request: the request.
        messages: its whole conversation.
        served: the model that serves it.
        exchange: the request's record.
        connection: the connection that it came on.
    """

    def __init__(
        self,
        simulator: Simulator,
        request: ModelRequest,
        messages: Sequence[Message],
        *,
        served: ServedModel,
        exchange: Exchange,
        connection: Connection,
    ) -> None:
        self._journal, self._request, self._served = simulator.journal, request, served
        self._exchange, self._connection = exchange, connection
        cache = served.cache if request.is_cached else PrefixCache()
        self.uncached = cache.read(exchange, request.fixed, messages)
        """Tokens of its prefix that are not in the cache."""
        self.answer = simulator.answer(messages, request.tools, fault=served.fault)

    async def send(self, reply: Reply, *, start: float) -> None:
        """Send the answer; its times count from `start`, on the clock of the event loop."""
        loop, full = asyncio.get_running_loop(), tokens(self.answer.text)
        kept = full[: self._request.max_tokens]
        for action in timetable(
            "".join(kept),
            self._served.latency,
            now=self._exchange.requested,
            uncached_tokens=self.uncached,
            fault=self._served.fault,
            fault_after=self._served.after,
            thought=self._request.thought,
        ):
            await asyncio.sleep(start + action.at - loop.time())
            match action:
                case SendText():
                    await reply.text(action.text)
                    self._journal.sent(self._exchange, action.tokens)
                case SendThought():
                    await reply.thought(action.text)
                    self._exchange.thought_tokens += action.tokens
                case KeepAlive():
                    await reply.alive()
                case Failure():
                    self._journal.end(self._exchange, "failed")
                    await reply.fail(action.status, action.message)
                    return
                case ResetConnection():
                    self._journal.end(self._exchange, "cut")
                    self._connection.reset()
                    return
                case Hang():
                    await asyncio.Event().wait()
        self._journal.end(self._exchange, "completed")
        await reply.complete(cut_off=len(kept) < len(full))
