"""Lists the models; clients also request the list to open a connection before they need it."""

import asyncio

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from voice.errors import ConfigurationError
from voice.simulator.simulator import DEFAULT_MODEL, MODEL_PREFIX, Simulator
from voice.simulator.timing.timetable import STATUSES, Fault
from voice.simulator.url_options import url_options
from voice.simulator.wire_errors import refusal, status_of


class Models:
    """The handler of `GET /v1/models`.

    The first request on a connection waits for as long as opening a real connection takes. `model` and `fault` in the
    URL choose the model whose network and fault apply.
    """

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator

    async def list(self, request: Request) -> Response:
        """Serve one request."""
        connection = self._simulator.connections.of(request.scope)
        connection.requests += 1
        options = url_options(request.scope)
        try:
            served = self._simulator.serve(options.get("model", DEFAULT_MODEL), options)
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
        names = [MODEL_PREFIX + name for name in self._simulator.profiles]
        return JSONResponse({"object": "list", "data": [{"id": name, **common} for name in names]})
