"""The web application: takes calls on /ws and reports readiness on /healthz."""

import logging
import math
import time
from typing import Any

from fastapi import FastAPI, Query, Request, WebSocket
from fastapi.responses import JSONResponse, Response

from voice.redaction import printable
from voice.server.admission import AdmissionRefusal
from voice.server.authentication import Access
from voice.server.calls import Calls
from voice.server.closing import closed_at_end
from voice.server.page.routes import page_routes, take_head
from voice.wire import endpoint
from voice.wire.resumption import RECEIVED_HEADER, RECEIVED_PARAMETER, RESUME_HEADER, RESUME_PARAMETER

log = logging.getLogger(__name__)


def create_app(calls: Calls, access: Access) -> FastAPI:
    """The application that takes `calls` from clients with `access`; it refuses calls until `calls.ready` is set."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.include_router(page_routes(access, lambda: calls.metrics.under_way() if calls.metrics else None))

    @app.get(endpoint.LIVE_PATH)
    async def livez() -> JSONResponse:
        """Whether the event loop runs."""
        return JSONResponse({"alive": True})

    @app.get(endpoint.READY_PATH)
    async def readyz() -> JSONResponse:
        """Whether a call would be taken, and why not."""
        refusal = calls.why_not()
        if refusal is None:
            return JSONResponse({"ready": True})
        return _not_now({"ready": False, "reason": refusal.reason}, refusal)

    @app.get(endpoint.METRICS_PATH)
    async def metrics(request: Request) -> Response:
        """The figures of all calls in Prometheus's format; needs the server's token."""
        refusal = access.refusal_of_stranger(request.headers)
        if refusal:
            return JSONResponse({"error": refusal.reason}, refusal.status)
        if calls.metrics is None:
            return JSONResponse({"error": "This server keeps no figures."}, 404)
        content, kind = calls.metrics.exposition()
        return Response(content, media_type=kind)

    @app.get(endpoint.HEALTH_PATH)
    async def healthz(request: Request) -> JSONResponse:
        """Whether the models are loaded; with the server's token, also the details of the pipeline."""
        trusted = access.refusal_of_stranger(request.headers) is None
        status = {"calls": len(calls.active), **calls.agent.status()} if calls.ready and trusted else {}
        return JSONResponse({"ready": calls.ready, **status}, 200 if calls.ready else 503)

    @app.post(endpoint.START_PATH)
    async def start(request: Request) -> Response:
        """The address of a call for pipecat's clients, with a token that is valid for this call only."""
        refusal = access.refusal_of_stranger(request.headers)
        if refusal:
            return JSONResponse({"error": refusal.reason}, refusal.status)
        full = calls.why_not()
        if full:
            if calls.metrics:
                calls.metrics.refused(full.kind)
            return _not_now({"error": full.reason}, full)
        scheme = "wss" if request.url.scheme == "https" or access.is_encrypted(request.headers) else "ws"
        token = access.short_lived(time.time())
        query = f"?{endpoint.TOKEN_PARAMETER}={token}" if token else ""
        return JSONResponse({"wsUrl": f"{scheme}://{access.host(request.headers)}{endpoint.CALL_PATH}{query}"})

    @app.websocket(endpoint.CALL_PATH)
    async def call(
        websocket: WebSocket,
        sample_rate: str = Query(str(endpoint.DEFAULT_OUT_RATE), alias=endpoint.RATE_PARAMETER),
        ducks: str = Query("", alias=endpoint.DUCKS_PARAMETER),
        resumes: str = Query("", alias=endpoint.RESUMES_PARAMETER),
    ) -> None:
        query, headers = websocket.query_params, websocket.headers
        given = query.get(endpoint.TOKEN_PARAMETER)
        if token := headers.get(RESUME_HEADER) or query.get(RESUME_PARAMETER):
            foreign = access.refusal_of_page(headers)
            if foreign:
                await websocket.send_denial_response(JSONResponse({"error": foreign.reason}, foreign.status))
                return
            received = headers.get(RECEIVED_HEADER) or query.get(RECEIVED_PARAMETER) or ""
            async with closed_at_end(websocket):
                await calls.resume(websocket, token, received)
            return
        refusal = access.refusal(headers, given, time.time())
        if refusal:
            log.warning("a call was refused: %s", printable(refusal.reason))
            await websocket.send_denial_response(JSONResponse({"error": refusal.reason}, refusal.status))
            return
        # A short-lived token does not grant the rights of the eval harness.
        evals = access.refusal(headers, given, math.inf) is None
        async with closed_at_end(websocket):
            await calls.take(websocket, sample_rate, ducks=ducks == "1", resumes=resumes == "1", evals=evals)

    take_head(app.routes)
    return app


def _not_now(body: dict[str, Any], refusal: AdmissionRefusal) -> JSONResponse:
    return JSONResponse(body, 503, headers={"Retry-After": str(refusal.retry_after)})
