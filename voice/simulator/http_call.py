"""One request over HTTP, on any wire: sends its answer at the latency model's times and notices a cancellation."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Protocol

from starlette.types import Receive

from voice.simulator.connections import Connection
from voice.simulator.conversation import Message, OfferedTool, ScriptedAnswer, tokens
from voice.simulator.journal import Exchange
from voice.simulator.simulator import ServedModel, Simulator
from voice.simulator.timing.prefix_cache import PrefixCache, read_prefix
from voice.simulator.timing.timetable import (
    Action,
    Failure,
    Hang,
    KeepAlive,
    ResetConnection,
    SendText,
    SendThought,
    timetable,
)


class Asked(Protocol):
    """What a request of any wire asks for."""

    @property
    def messages(self) -> Sequence[Message]:
        """The conversation."""

    @property
    def tools(self) -> Sequence[OfferedTool]:
        """The tools that the model may call."""

    @property
    def max_tokens(self) -> int | None:
        """The longest answer."""

    @property
    def fixed(self) -> str:
        """The part of the prompt before the messages, for the prefix cache."""

    @property
    def is_cached(self) -> bool:
        """Whether the prefix is looked up in the cache and kept there."""

    @property
    def thought(self) -> str:
        """What the model thinks before it answers; empty for none."""


class Reply(Protocol):
    """Sends an answer in the form of its wire."""

    async def text(self, text: str) -> None:
        """Send a piece of the answer, or of the arguments of the tool call."""

    async def thought(self, text: str) -> None:
        """Send a piece of what the model thinks."""

    async def alive(self) -> None:
        """Send a sign of life without text."""

    async def fail(self, status: int, message: str | None) -> None:
        """Report an error; nothing follows."""

    async def complete(self, *, cut_off: bool) -> None:
        """End the answer, which is cut off if it reached the longest allowed length."""


class HttpCall:
    """Answers one request.

    Args:
        simulator: the simulator that answers.
        asked: the request.
        served: the model that serves it.
        exchange: the request's record.
        connection: the connection that it came on.
    """

    def __init__(
        self, simulator: Simulator, asked: Asked, served: ServedModel, exchange: Exchange, connection: Connection
    ) -> None:
        self._simulator, self._asked, self._served = simulator, asked, served
        self._exchange, self._connection = exchange, connection
        self._arrived = asyncio.get_running_loop().time()
        self.answer: ScriptedAnswer = simulator.answer(asked.messages, asked.tools, fault=served.fault)
        cache = served.cache if asked.is_cached else PrefixCache()
        self._uncached = read_prefix(cache, exchange, asked.fixed, asked.messages)
        # What is read from the cache does not count against the limits.
        served.spend(given=(exchange.input_tokens or 0) - (exchange.cached_tokens or 0))

    async def serve(self, reply: Reply, receive: Receive) -> None:
        """Serve until the answer is complete or the client has closed the connection."""
        answering = asyncio.create_task(self._run(reply))
        leaving = asyncio.create_task(_gone(receive))
        try:
            await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                self._simulator.journal.end(self._exchange, "cancelled")
        finally:
            answering.cancel()
            leaving.cancel()
            await asyncio.gather(answering, leaving, return_exceptions=True)
            self._served.spend(output=self._exchange.tokens_sent + self._exchange.thought_tokens)
        if not answering.cancelled():
            answering.result()

    async def _run(self, reply: Reply) -> None:
        """Send the answer at the times of the timetable."""
        loop, journal = asyncio.get_running_loop(), self._simulator.journal
        # Loopback opens connections at once, so the first request waits for as long as a real opening takes.
        opening = self._served.opening(websocket=False) if self._exchange.opened else 0.0
        start = self._arrived + opening
        full = tokens(self.answer.text)
        kept = full[: self._asked.max_tokens]
        for action in self._timetable("".join(kept)):
            await asyncio.sleep(start + action.at - loop.time())
            match action:
                case SendText():
                    await reply.text(action.text)
                    journal.sent(self._exchange, action.tokens)
                case SendThought():
                    await reply.thought(action.text)
                    journal.thought(self._exchange, action.tokens)
                case KeepAlive():
                    await reply.alive()
                case Failure():
                    journal.end(self._exchange, "failed")
                    await reply.fail(action.status, action.message)
                    return
                case ResetConnection():
                    journal.end(self._exchange, "cut")
                    self._connection.reset()
                    return
                case Hang():
                    await asyncio.Event().wait()
        journal.end(self._exchange, "completed")
        await reply.complete(cut_off=len(kept) < len(full))

    def _timetable(self, text: str) -> Iterator[Action]:
        return timetable(
            text,
            self._served.latency,
            now=self._exchange.requested,
            uncached_tokens=self._uncached,
            fault=self._served.fault,
            fault_after=self._served.after,
            thought=self._asked.thought,
        )


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
