"""The web application: takes calls on /ws and reports readiness on /healthz."""

import asyncio
import logging
from typing import Any, Protocol

from fastapi import FastAPI, Query, WebSocket
from fastapi.responses import JSONResponse
from pipecat.pipeline.worker import PipelineWorker
from pipecat.workers.runner import WorkerRunner

from voice.errors import VoiceError
from voice.server.interventions import RELEASE_AFTER, Interventions
from voice.server.transport import CallTransport
from voice.wire.endpoint import CALL_PATH, DEFAULT_OUT_RATE, HEALTH_PATH, NATIVE, OUT_RATES, RATE_PARAMETER, out_rate

CLOSE_REASON_BYTES = 123
"""Bytes of the reason with which a WebSocket is closed."""
log = logging.getLogger(__name__)


class ServableAgent(Protocol):
    """The agent that the application serves once its models are loaded."""

    @property
    def native_rate(self) -> int:
        """The sample rate of the agent's voice, in Hz."""

    def status(self) -> dict[str, Any]:
        """What `/healthz` reports besides readiness."""

    def build_call(self, transport: CallTransport, *, sample_rate: int) -> PipelineWorker:
        """The pipeline of one call."""


class Calls:
    """The calls under way on one agent; refused until `ready` is set.

    Args:
        agent: builds the pipeline of each call.
        interventions: called when calls have ended; None leaves their memory to Python.
    """

    def __init__(self, agent: ServableAgent, interventions: Interventions | None = None) -> None:
        self.agent = agent
        self.active: set[asyncio.Task[None]] = set()
        self.ready = False
        self._interventions = interventions

    async def take(self, websocket: WebSocket, sample_rate: str) -> None:
        """Run one call to its end; a call that cannot start or breaks the protocol is closed with a reason."""
        await websocket.accept()
        if not self.ready:
            await websocket.close(1013, "the models are still loading; try again when /healthz is ready")
            return
        rate = out_rate(sample_rate, native=self.agent.native_rate)
        if rate is None:
            allowed = f"{NATIVE} or a number from {OUT_RATES[0]} to {OUT_RATES[-1]}"
            await websocket.close(1008, f"{RATE_PARAMETER} must be {allowed}, not {sample_rate[:10]}")
            return
        task = asyncio.current_task()
        assert task is not None
        self.active.add(task)
        try:
            await self._run(websocket, rate)
        except VoiceError as error:
            log.warning("a call could not begin: %s", error)
            await websocket.close(1011, shortened(str(error)))
        except asyncio.CancelledError:
            # The server is shutting down and this call took too long to end; uvicorn would print its traceback.
            log.warning("a call was cut off")
        finally:
            self.active.discard(task)

    async def _run(self, websocket: WebSocket, rate: int) -> None:
        transport = CallTransport(websocket, sample_rate=rate)
        worker = self.agent.build_call(transport, sample_rate=rate)

        @transport.event_handler("on_client_disconnected")  # type: ignore[untyped-decorator]
        async def hang_up(_transport: CallTransport, _websocket: WebSocket) -> None:
            if reason := transport.serializer.refusal:
                log.warning("call closed: %s", reason)
                await transport.refuse(reason)
            await worker.cancel()

        runner = WorkerRunner(handle_sigint=False)
        try:
            await runner.add_workers(worker)
            await runner.run()
        finally:
            asyncio.get_running_loop().call_later(RELEASE_AFTER, self._release, worker)

    def _release(self, worker: PipelineWorker) -> None:
        if self._interventions:
            self._interventions.call_ended(worker, others=len(self.active))


def shortened(reason: str) -> str:
    """A reason that fits `CLOSE_REASON_BYTES` of UTF-8; a longer one is cut between words and ends in "…"."""
    encoded = reason.encode()
    if len(encoded) <= CLOSE_REASON_BYTES:
        return reason
    # The byte after the room for the "…" shows whether the last word is whole.
    room = CLOSE_REASON_BYTES - len("…".encode())
    kept = encoded[: room + 1].decode(errors="ignore")
    return (kept.rpartition(" ")[0] or encoded[:room].decode(errors="ignore")).rstrip(" ,;:") + "…"


def create_app(calls: Calls) -> FastAPI:
    """The application that takes `calls`; it refuses them until `calls.ready` is set."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)

    @app.get(HEALTH_PATH)
    async def healthz() -> JSONResponse:
        status = calls.agent.status() if calls.ready else {}
        return JSONResponse({"ready": calls.ready, "calls": len(calls.active), **status}, 200 if calls.ready else 503)

    @app.websocket(CALL_PATH)
    async def call(websocket: WebSocket, sample_rate: str = Query(str(DEFAULT_OUT_RATE), alias=RATE_PARAMETER)) -> None:
        await calls.take(websocket, sample_rate)

    return app
