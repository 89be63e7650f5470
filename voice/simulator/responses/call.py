"""Answers one request over the socket, up to the response's last event."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from voice.simulator.connections import Connection
from voice.simulator.conversation import Message, tokens
from voice.simulator.journal import Exchange
from voice.simulator.responses.events import ResponseWriter, error_event, usage
from voice.simulator.responses.lanes import Lanes
from voice.simulator.responses.request import ResponseRequest, call_text
from voice.simulator.simulator import ServedModel, Simulator
from voice.simulator.timing.prefix_cache import read_prefix
from voice.simulator.timing.timetable import (
    STATUSES,
    Failure,
    Fault,
    Hang,
    KeepAlive,
    ResetConnection,
    SendText,
    timetable,
)
from voice.simulator.wire_errors import error_headers

Send = Callable[[Mapping[str, Any]], Awaitable[None]]
_WITHOUT_BEGINNING = {Fault.SILENT, Fault.REFUSE, *STATUSES}


class ResponseCall:
    """Answers one `response.create`.

    Args:
        simulator: the simulator that answers.
        asked: the request.
        served: the model that serves it.
        exchange: the request's record.
        connection: the connection that it came on.
        lanes: the connection's lanes.
        send: sends an event.
    """

    def __init__(
        self,
        simulator: Simulator,
        asked: ResponseRequest,
        served: ServedModel,
        *,
        exchange: Exchange,
        connection: Connection,
        lanes: Lanes,
        send: Send,
    ) -> None:
        self.asked = asked
        self.exchange = exchange
        self.response_id = f"resp_sim_{exchange.number:06d}"
        self._simulator = simulator
        self._served = served
        self._connection = connection
        self._lanes = lanes
        self._send = send
        self._writer: ResponseWriter | None = None

    async def run(self) -> None:
        """Wait until the lane is free, then answer."""
        async with self._lanes.turn(self.asked.lane), self._lanes.in_flight:
            before = self._before()
            if before is None:
                self._simulator.journal.end(self.exchange, "failed")
                await self._send(
                    error_event(
                        400,
                        message=f"Previous response with id '{self.asked.previous}' not found.",
                        code="previous_response_not_found",
                        param="previous_response_id",
                        lane=self.asked.lane,
                    )
                )
                return
            await self._answer((*before, *self.asked.items))

    async def cancel(self) -> None:
        """End the response because the client cancelled it; a silent server does not confirm that."""
        self._simulator.journal.end(self.exchange, "cancelled")
        if self._writer is not None and self._served.fault is not Fault.SILENT:
            await self._send(self._writer.cancelled())

    def _before(self) -> tuple[Message, ...] | None:
        return () if self.asked.previous is None else self._lanes.find(self.asked.previous)

    async def _answer(self, messages: tuple[Message, ...]) -> None:
        loop, asked = asyncio.get_running_loop(), self.asked
        # Times count from here, because the request may have waited for its lane.
        start = loop.time()
        uncached = read_prefix(self._served.cache, self.exchange, asked.fixed, messages)
        said = self._simulator.answer(messages, asked.tools, fault=self._served.fault)
        writer = self._writer = ResponseWriter(asked, self.response_id, self._served, said.tool)
        if self._served.fault not in _WITHOUT_BEGINNING:
            await asyncio.sleep(self._served.latency.profile.rtt)
            await self._all(writer.created())
        if not asked.generate and self._served.fault is not Fault.SILENT:
            await asyncio.sleep(uncached / self._served.latency.profile.prefill_tokens_per_s)
            self._finish(messages)
            await self._all(writer.completed(self._usage(), cut_off=False))
            return
        full = tokens(said.text)
        kept = full[: asked.max_tokens]
        for action in timetable(
            "".join(kept),
            self._served.latency,
            now=self.exchange.requested,
            uncached_tokens=uncached,
            fault=self._served.fault,
            fault_after=self._served.after,
        ):
            await asyncio.sleep(start + action.at - loop.time())
            match action:
                case SendText():
                    await self._all(writer.piece(action.text))
                    self._simulator.journal.sent(self.exchange, action.tokens)
                case KeepAlive():
                    await self._send(writer.alive())
                case Failure():
                    await self._fail(action.status, action.message)
                    return
                case ResetConnection():
                    self._simulator.journal.end(self.exchange, "cut")
                    self._connection.reset()
                    return
                case Hang():
                    await asyncio.Event().wait()
        text = said.text if said.tool is None else call_text(said.tool, said.text)
        self._finish((*messages, Message("assistant", text)))
        await self._all(writer.completed(self._usage(), cut_off=len(kept) < len(full)))

    def _finish(self, conversation: tuple[Message, ...]) -> None:
        self._lanes.keep(self.asked.lane, self.response_id, conversation)
        self._simulator.journal.end(self.exchange, "completed")

    async def _fail(self, status: int, message: str | None) -> None:
        self._lanes.evict(self.asked.lane)
        self._simulator.journal.end(self.exchange, "failed")
        if self._served.fault in STATUSES:
            await self._send(error_event(status, message=message, lane=self.asked.lane, headers=error_headers(status)))
        elif self._writer is not None:
            await self._send(self._writer.failed(status))

    async def _all(self, events: Iterable[Mapping[str, Any]]) -> None:
        for event in events:
            await self._send(event)

    def _usage(self) -> dict[str, Any]:
        exchange = self.exchange
        return usage(given=exchange.input_tokens or 0, cached=exchange.discounted_tokens, output=exchange.tokens_sent)
