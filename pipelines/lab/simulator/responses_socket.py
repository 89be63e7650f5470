"""The WebSocket of OpenAI's Responses: lanes, cancellation and a limited life."""

import asyncio
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from pipelines.lab.simulator.call import Call
from pipelines.lab.simulator.connections import Connection, url_options
from pipelines.lab.simulator.conversation import Message, json_text
from pipelines.lab.simulator.errors import RefusedError, error_headers, refusal, status_of
from pipelines.lab.simulator.journal import Exchange
from pipelines.lab.simulator.responses import ResponseRequest, ResponseWriter, call_text, error_event, read_create
from pipelines.lab.simulator.simulator import DEFAULT_MODEL, ServedModel, Simulator
from pipelines.lab.simulator.timetable import STATUSES, Fault
from voice.errors import ConfigurationError

MOST_LANES = 32
MOST_IN_FLIGHT = 16
_LANE_NAME = re.compile(r"[A-Za-z0-9_.-]{1,256}")
_GOING_AWAY = 1001
_WITHOUT_BEGINNING = {Fault.SILENT, Fault.REFUSE, *STATUSES}


class ResponsesSocket:
    """The ASGI application of `WS /v1/responses`.

    Opening a connection takes the time of its model's network. `?model=` in the URL names the model; without it, the
    network of an OpenAI model applies. Faults while opening (401, 429, 500, refuse, slow-connect) need `?model=` or
    `?fault=`.
    """

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        connection = self._simulator.connections.of(scope)
        try:
            websocket = WebSocket(scope, receive, send)
            if await self._open(websocket, connection):
                await SocketSession(self._simulator, websocket, connection).run()
        except WebSocketDisconnect:
            # The client disconnected before it was accepted.
            return
        finally:
            self._simulator.connections.remove(tuple(scope["client"]))

    async def _open(self, websocket: WebSocket, connection: Connection) -> bool:
        """Accept the client after the time that opening takes; returns False if it was not accepted."""
        await websocket.receive()
        options = url_options(websocket.scope)
        try:
            served = self._simulator.serve(options.get("model", DEFAULT_MODEL), options)
        except ConfigurationError as error:
            await websocket.send_denial_response(refusal(status_of(error), str(error)))
            return False
        await asyncio.sleep(served.opening(websocket=True))
        if served.fault is Fault.REFUSE:
            connection.reset()
            await websocket.receive()
            return False
        if served.fault in STATUSES:
            await websocket.send_denial_response(refusal(STATUSES[served.fault]))
            return False
        await websocket.accept()
        return True


class Lanes:
    """The lanes of one connection (`stream_id`); None is the lane without a name.

    Responses of one lane run one after the other; at most 16 responses of different lanes run at the same time. The
    latest response of each is kept until the connection closes.
    """

    def __init__(self) -> None:
        self.in_flight = asyncio.Semaphore(MOST_IN_FLIGHT)
        self._turns: dict[str | None, asyncio.Lock] = {}
        self._latest: dict[str | None, tuple[str, tuple[Message, ...]]] = {}

    def turn(self, lane: str | None) -> asyncio.Lock:
        """The lock that makes the responses of a lane run in the order of their requests.

        Raises:
            RefusedError: the name is not allowed, or the connection has too many lanes already.
        """
        if lane not in self._turns:
            if lane is not None and not _LANE_NAME.fullmatch(str(lane)):
                allowed = "stream_id must be 1 to 256 of the characters A-Z a-z 0-9 _ . -"
                raise RefusedError(400, allowed, code="invalid_stream_id")
            if lane is not None and len(self._turns.keys() - {None}) >= MOST_LANES:
                most = f"A connection has at most {MOST_LANES} streams."
                raise RefusedError(400, most, code="websocket_stream_limit_reached")
            self._turns[lane] = asyncio.Lock()
        return self._turns[lane]

    def find(self, response_id: str) -> tuple[Message, ...] | None:
        """The conversation up to and including a response, or None if no lane still keeps it."""
        return next((kept for known, kept in self._latest.values() if known == response_id), None)

    def keep(self, lane: str | None, response_id: str, conversation: tuple[Message, ...]) -> None:
        """Keep a complete response; the lane's earlier one is forgotten."""
        self._latest[lane] = (response_id, conversation)

    def evict(self, lane: str | None) -> None:
        """Forget the lane's latest response, because a response failed."""
        self._latest.pop(lane, None)


class ResponseCall:
    """Answers one `response.create`, up to the response's last event; it is the `Reply` of its call.

    Args:
        session: the connection that it came on.
        request: the request.
        served: the model that serves it.
        exchange: the request's record.
    """

    def __init__(
        self, session: "SocketSession", request: ResponseRequest, served: ServedModel, exchange: Exchange
    ) -> None:
        self.request, self.exchange = request, exchange
        self.response_id = f"resp_sim_{exchange.number:06d}"
        self._session, self._served, self._journal = session, served, session.simulator.journal
        self._messages: tuple[Message, ...] = ()
        self._said = ""
        self._writer: ResponseWriter | None = None

    @property
    def writer(self) -> ResponseWriter:
        """The writer of the response, which has begun."""
        assert self._writer is not None
        return self._writer

    async def run(self) -> None:
        """Wait until the lane is free, then answer."""
        request = self.request
        lanes = self._session.lanes
        async with lanes.turn(request.lane), lanes.in_flight:
            before = () if request.previous is None else lanes.find(request.previous)
            if before is not None:
                self._messages = (*before, *request.messages)
                await self._answer()
                return
            self._journal.end(self.exchange, "failed")
            await self._session.send(
                error_event(
                    400,
                    message=f"Previous response with id '{request.previous}' not found.",
                    code="previous_response_not_found",
                    param="previous_response_id",
                    lane=request.lane,
                )
            )

    async def cancel(self) -> None:
        """End the response because the client cancelled it; a silent server does not confirm that."""
        self._journal.end(self.exchange, "cancelled")
        if self._writer is not None and self._served.fault is not Fault.SILENT:
            await self._session.send(self._writer.cancelled())

    async def _answer(self) -> None:
        # Times count from here, because the request may have waited for its lane.
        start, profile = asyncio.get_running_loop().time(), self._served.latency.profile
        call = Call(
            self._session.simulator,
            self.request,
            self._messages,
            served=self._served,
            exchange=self.exchange,
            connection=self._session.connection,
        )
        said = call.answer
        self._said = said.text if said.tool is None else call_text(said.tool, said.text)
        self._writer = ResponseWriter(self.request, self.response_id, self._served, said.tool)
        if self._served.fault not in _WITHOUT_BEGINNING:
            await asyncio.sleep(profile.rtt)
            await self._all(self._writer.created())
        if self.request.generate or self._served.fault is Fault.SILENT:
            await call.send(self, start=start)
            return
        await asyncio.sleep(call.uncached / profile.prefill_tokens_per_s)
        self._journal.end(self.exchange, "completed")
        self._session.lanes.keep(self.request.lane, self.response_id, self._messages)
        await self._all(self._writer.completed(self.exchange, cut_off=False))

    async def text(self, text: str) -> None:
        """Send a piece of the answer."""
        await self._all(self.writer.text(text))

    async def thought(self, text: str) -> None:
        """Do nothing: this wire hides a model's thoughts."""

    async def alive(self) -> None:
        """Report that the response is still in progress."""
        await self._session.send(self.writer.alive())

    async def fail(self, status: int, message: str | None) -> None:
        """Report an error, instead of the response or at its end."""
        lane = self.request.lane
        self._session.lanes.evict(lane)
        if self._served.fault in STATUSES:
            await self._session.send(error_event(status, message=message, lane=lane, headers=error_headers(status)))
        else:
            await self._session.send(self.writer.failed(status))

    async def complete(self, *, cut_off: bool) -> None:
        """End the response, which further ones may continue."""
        conversation = (*self._messages, Message("assistant", self._said))
        self._session.lanes.keep(self.request.lane, self.response_id, conversation)
        await self._all(self.writer.completed(self.exchange, cut_off=cut_off))

    async def _all(self, events: Iterable[Mapping[str, Any]]) -> None:
        for event in events:
            await self._session.send(event)


class SocketSession:
    """Serves one open connection."""

    def __init__(self, simulator: Simulator, websocket: WebSocket, connection: Connection) -> None:
        self.simulator = simulator
        self._websocket = websocket
        self.connection = connection
        self.lanes = Lanes()
        self._running: dict[str, tuple[ResponseCall, asyncio.Task[None]]] = {}

    async def run(self) -> None:
        """Serve until the client disconnects or the connection has reached its longest life."""
        outcome: Literal["cancelled", "cut"] = "cancelled"
        try:
            async with asyncio.timeout(self.simulator.socket_life):
                while (message := await self._websocket.receive())["type"] != "websocket.disconnect":
                    await self._take(message.get("text") or message.get("bytes") or "")
        except TimeoutError:
            outcome = "cut"
            why = "This connection has reached its longest life; open a new one."
            await self.send(error_event(400, message=why, code="websocket_connection_limit_reached"))
            await self._websocket.close(_GOING_AWAY)
        finally:
            for call, _task in self._running.values():
                self.simulator.journal.end(call.exchange, outcome)
            await self._stop([task for _call, task in self._running.values()])

    async def _take(self, text: str | bytes) -> None:
        """Handle one client event; a faulty event is answered with an error and changes nothing."""
        self.connection.requests += 1
        lane = None
        try:
            event = json.loads(text)
            if not isinstance(event, Mapping):
                raise ConfigurationError("An event must be a JSON object.")
            lane = event.get("stream_id")
            kind = event.get("type")
            if kind == "response.create":
                self._start(event, len(text))
            elif kind == "response.cancel" and self.simulator.on_cancel != "unknown":
                await self._cancel(event.get("response_id"))
            else:
                raise ConfigurationError(f"The simulator does not know the event {kind}.")
        except ConfigurationError as error:
            code = error.code if isinstance(error, RefusedError) else None
            await self.send(error_event(status_of(error), message=str(error), code=code, lane=lane))
        except (ValueError, RecursionError) as error:
            # Half a character, or nested too deeply.
            await self.send(error_event(400, message=f"The event is not JSON: {error}."))

    def _start(self, event: Mapping[str, Any], size: int) -> None:
        request = read_create(event)
        served = self.simulator.serve(request.model, url_options(self._websocket.scope), speed=request.speed)
        self.lanes.turn(request.lane)
        exchange = self.simulator.begin("responses", served, self.connection, size=size, warm_up=not request.generate)
        call = ResponseCall(self, request, served, exchange)
        task = asyncio.create_task(call.run())
        self._running[call.response_id] = (call, task)
        task.add_done_callback(lambda _task: self._running.pop(call.response_id, None))

    async def _cancel(self, response_id: str | None) -> None:
        """Stop a response, or the only one if none is named.

        A response that has already ended is no error: its end was under way when the client sent the event.

        Raises:
            ConfigurationError: its id is not a text.
        """
        if not isinstance(response_id, str | None):
            raise ConfigurationError("response_id must be a text.")
        if self.simulator.on_cancel == "ignore":
            return
        if response_id is None and len(self._running) == 1:
            response_id = next(iter(self._running))
        found = self._running.get(response_id or "")
        if found is not None and not found[1].done():
            call, task = found
            await self._stop([task])
            await call.cancel()
            if self.simulator.on_cancel == "forget":
                self.lanes.evict(call.request.lane)

    async def _stop(self, tasks: list[asyncio.Task[None]]) -> None:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def send(self, event: Mapping[str, Any]) -> None:
        """Send an event unless the client has disconnected; `run` then receives the disconnection."""
        states = (self._websocket.client_state, self._websocket.application_state)
        if states == (WebSocketState.CONNECTED, WebSocketState.CONNECTED):
            try:
                await self._websocket.send_text(json_text(event))
            except WebSocketDisconnect:
                return
