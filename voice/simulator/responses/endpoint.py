"""The Responses endpoint: WebSocket connections with lanes, cancellation and a limited life."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any, Literal

from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from voice.errors import ConfigurationError
from voice.simulator.connections import Connection
from voice.simulator.conversation import json_text
from voice.simulator.responses.call import ResponseCall
from voice.simulator.responses.events import error_event
from voice.simulator.responses.lanes import LaneLimitError, LaneNameError, Lanes
from voice.simulator.responses.request import read_create
from voice.simulator.simulator import DEFAULT_MODEL, Simulator
from voice.simulator.timing.timetable import STATUSES, Fault
from voice.simulator.url_options import url_options
from voice.simulator.wire_errors import refusal, status_of

_GOING_AWAY = 1001


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


class SocketSession:
    """Serves one open connection."""

    def __init__(self, simulator: Simulator, websocket: WebSocket, connection: Connection) -> None:
        self._simulator = simulator
        self._websocket = websocket
        self._connection = connection
        self._lanes = Lanes()
        self._running: dict[str, tuple[ResponseCall, asyncio.Task[None]]] = {}

    async def run(self) -> None:
        """Serve until the client disconnects or the connection has reached its longest life."""
        outcome: Literal["cancelled", "cut"] = "cancelled"
        try:
            async with asyncio.timeout(self._simulator.socket_life):
                while (message := await self._websocket.receive())["type"] != "websocket.disconnect":
                    await self._take(message.get("text") or message.get("bytes") or "")
        except TimeoutError:
            outcome = "cut"
            await self._send(
                error_event(
                    400,
                    message="This connection has reached its longest life; open a new one.",
                    code="websocket_connection_limit_reached",
                )
            )
            await self._websocket.close(_GOING_AWAY)
        finally:
            for call, _task in self._running.values():
                self._simulator.journal.end(call.exchange, outcome)
            await self._stop([task for _call, task in self._running.values()])

    async def _take(self, text: str | bytes) -> None:
        """Handle one client event; a faulty event is answered with an error and changes nothing."""
        self._connection.requests += 1
        lane = None
        try:
            event = json.loads(text)
            if not isinstance(event, Mapping):
                raise ConfigurationError("An event must be a JSON object.")
            lane = event.get("stream_id")
            kind = event.get("type")
            if kind == "response.create":
                self._start(event, len(text))
            elif kind == "response.cancel" and self._simulator.on_cancel != "unknown":
                await self._cancel(event.get("response_id"))
            else:
                raise ConfigurationError(f"The simulator does not know the event {kind}.")
        except ConfigurationError as error:
            code = error.code if isinstance(error, (LaneLimitError, LaneNameError)) else None
            await self._send(error_event(status_of(error), message=str(error), code=code, lane=lane))
        except (ValueError, RecursionError) as error:
            # Half a character, or nested too deeply.
            await self._send(error_event(400, message=f"The event is not JSON: {error}."))

    def _start(self, event: Mapping[str, Any], size: int) -> None:
        asked = read_create(event)
        served = self._simulator.serve(asked.model, url_options(self._websocket.scope), speed=asked.speed)
        self._lanes.turn(asked.lane)
        exchange = self._simulator.journal.begin(
            "responses",
            served.name,
            fault=served.fault,
            connection=self._connection.number,
            opened=self._connection.requests == 1,
            bytes_in=size,
            speed=served.speed,
            warm_up=not asked.generate,
        )
        call = ResponseCall(
            self._simulator,
            asked,
            served,
            exchange=exchange,
            connection=self._connection,
            lanes=self._lanes,
            send=self._send,
        )
        task = asyncio.create_task(call.run())
        self._running[call.response_id] = (call, task)
        task.add_done_callback(lambda _task: self._running.pop(call.response_id, None))

    async def _cancel(self, response_id: str | None) -> None:
        """Stop a response, or the only one if none is named.

        A response that has already ended is no error: its end was under way when the client sent the event.

        Raises:
            ConfigurationError: what names it is no text.
        """
        if not isinstance(response_id, str | None):
            raise ConfigurationError("response_id must be a text.")
        if self._simulator.on_cancel == "ignore":
            return
        if response_id is None and len(self._running) == 1:
            response_id = next(iter(self._running))
        found = self._running.get(response_id or "")
        if found is not None and not found[1].done():
            call, task = found
            await self._stop([task])
            await call.cancel()
            if self._simulator.on_cancel == "forget":
                self._lanes.evict(call.asked.lane)

    async def _stop(self, tasks: list[asyncio.Task[None]]) -> None:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _send(self, event: Mapping[str, Any]) -> None:
        """Send an event unless the client has disconnected; `run` then receives the disconnection."""
        states = (self._websocket.client_state, self._websocket.application_state)
        if states == (WebSocketState.CONNECTED, WebSocketState.CONNECTED):
            try:
                await self._websocket.send_text(json_text(event))
            except WebSocketDisconnect:
                return
