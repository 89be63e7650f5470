"""The simulator's web application and its server on loopback."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from pipelines.lab.simulator.chat import ChatCompletions
from pipelines.lab.simulator.connections import OPTIONS_PATH, ClientGoneError, url_options
from pipelines.lab.simulator.errors import refusal, status_of
from pipelines.lab.simulator.messages import Messages
from pipelines.lab.simulator.responses_socket import ResponsesSocket
from pipelines.lab.simulator.simulator import DEFAULT_MODEL, MODEL_PREFIX, Simulator
from pipelines.lab.simulator.timetable import STATUSES, Fault, parse_fault
from voice.errors import ConfigurationError
from voice.server.connections import TolerantWebSocket
from voice.server.listening import listen

_KEEP_ALIVE = 120  # seconds before an idle connection is closed; real servers wait for minutes


def create_app(simulator: Simulator) -> Starlette:
    """The application: three wires, `/v1/models`, `/healthz`; under `/sim/`, the recorded requests and the faults."""

    async def healthz(_request: Request) -> JSONResponse:
        return JSONResponse(
            {
                "ready": True,
                "preset": simulator.preset,
                "seed": simulator.seed,
                "connections": {"open": len(simulator.connections), "opened": simulator.connections.opened},
            }
        )

    async def requests(_request: Request) -> JSONResponse:
        return JSONResponse(simulator.journal.as_json())

    async def fault(request: Request) -> Response:
        model, name = request.query_params.get("model", ""), request.query_params.get("fault", "")
        try:
            simulator.set_fault(model, parse_fault(name) if name else None)
        except ConfigurationError as error:
            return refusal(status_of(error), str(error))
        return JSONResponse({"model": model, "fault": name or None})

    async def models(request: Request) -> Response:
        return await _models(simulator, request)

    wires = [
        route
        for base in ("", OPTIONS_PATH)
        for route in (
            Route(f"{base}/v1/chat/completions", ChatCompletions(simulator), methods=["POST"]),
            Route(f"{base}/v1/messages", Messages(simulator), methods=["POST"]),
            WebSocketRoute(f"{base}/v1/responses", ResponsesSocket(simulator)),
            Route(f"{base}/v1/models", models),
        )
    ]
    return Starlette(
        routes=[
            *wires,
            Route("/healthz", healthz),
            Route("/sim/requests", requests),
            Route("/sim/fault", fault, methods=["POST"]),
        ],
        exception_handlers={ClientGoneError: _nobody_there},
    )


async def _models(simulator: Simulator, request: Request) -> Response:
    """The list of models, which clients also request to open a connection before they need it.

    The first request on a connection waits for as long as opening a real connection takes. `model` and `fault` in the
    URL choose the model whose network and fault apply.
    """
    connection = simulator.connections.of(request.scope)
    connection.requests += 1
    options = url_options(request.scope)
    try:
        served = simulator.serve(options.get("model", DEFAULT_MODEL), options)
    except ConfigurationError as error:
        return refusal(status_of(error), str(error))
    if connection.requests == 1:
        await asyncio.sleep(served.opening(websocket=False))
    if served.fault in (Fault.SILENT, Fault.REFUSE):
        if served.fault is Fault.REFUSE:
            connection.reset()
        while (await request.receive())["type"] != "http.disconnect":
            pass
    if served.fault in STATUSES:
        return refusal(STATUSES[served.fault])
    common = {"object": "model", "created": 0, "owned_by": "sim"}
    data = [{"id": MODEL_PREFIX + name, **common} for name in simulator.profiles]
    return JSONResponse({"object": "list", "data": data})


async def _nobody_there(connection: Any, _error: Exception) -> Any:
    """Ignore a client that has gone; a `WebSocket` must be closed, or it would be logged."""
    if isinstance(connection, WebSocket):
        await connection.close()
        return None
    return Response(status_code=400)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the simulator listens.

    Parameters:
        host: address of this machine.
        port: the port; if a free one was requested, the one that was found.
        stopped: done once the server has stopped, for example after a signal.
    """

    host: str
    port: int
    stopped: asyncio.Task[None]

    @property
    def base_url(self) -> str:
        """`base_url` for the OpenAI SDK."""
        return f"http://{self.host}:{self.port}/v1"

    @property
    def root_url(self) -> str:
        """`base_url` for the Anthropic SDK, which appends /v1 itself."""
        return f"http://{self.host}:{self.port}"

    @property
    def ws_url(self) -> str:
        """`ws_url` for pipecat's Responses service."""
        return f"ws://{self.host}:{self.port}/v1/responses"


@asynccontextmanager
async def serving(simulator: Simulator, *, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[Endpoint]:
    """Serve while the context lasts; SIGINT and SIGTERM also stop the server.

    Args:
        simulator: what to serve.
        host: an address of this machine.
        port: 0 chooses a free one.

    Raises:
        ConfigurationError: the address is not available.
    """
    sock = listen(host, port)
    config = uvicorn.Config(
        create_app(simulator),
        http=simulator.connections.protocol(),
        ws=TolerantWebSocket,
        ws_per_message_deflate=False,
        log_level="warning",
        lifespan="off",
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve(sockets=[sock]))
    try:
        yield Endpoint(host, sock.getsockname()[1], running)
    finally:
        server.should_exit = True
        await running
