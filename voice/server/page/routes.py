"""What browsers ask a server for: the page, and the one that shows the calls under way, with its figures."""

from collections.abc import Callable, Sequence
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from voice.server.access import Access
from voice.server.accounting import CallFigures
from voice.server.page.files import FILES_PATH, HEADERS, INDEX, PAGE_PATH, page_files
from voice.server.page.head import take_head

CALLS_PAGE_PATH = "/live"
CALLS_PAGE = "live.html"
CALLS_PATH = "/live/calls"
"""Where that page reads the calls under way."""


def page_routes(access: Access, under_way: Callable[[], Sequence[CallFigures] | None]) -> APIRouter:
    """The addresses of both pages.

    Args:
        access: who may read what calls are under way.
        under_way: the calls under way; None where no books are kept on them.
    """
    routes = APIRouter()

    @routes.get(PAGE_PATH)
    @routes.get(FILES_PATH)
    async def page(name: str = INDEX) -> Response:
        """A file of the pages, which hold no secrets; who may call is decided at the call."""
        found = page_files().get(name)
        if found is None:
            return JSONResponse({"error": "The page has no such file."}, 404)
        return Response(found.content, media_type=found.media_type, headers=HEADERS)

    @routes.get(CALLS_PAGE_PATH)
    async def live() -> Response:
        """The page that shows the calls under way."""
        return await page(CALLS_PAGE)

    @routes.get(CALLS_PATH)
    async def calls(request: Request) -> Response:
        """The calls under way, which are not for strangers."""
        refusal = access.refusal_of_stranger(request.headers)
        if refusal:
            return JSONResponse({"error": refusal.reason}, refusal.status)
        figures = under_way()
        if figures is None:
            return JSONResponse({"error": "This server keeps no figures."}, 404)
        return JSONResponse({"calls": [_json(one) for one in figures]}, headers={"Cache-Control": "no-store"})

    take_head(routes.routes)
    return routes


def _json(call: CallFigures) -> dict[str, Any]:
    return {
        "number": call.number,
        "seconds": round(call.seconds, 1),
        "state": call.state,
        "turns": call.turns,
        "typed": call.typed,
        "late": call.late,
        "p50": call.p50,
        "p95": call.p95,
        "slowest": call.slowest,
        "answered_by": call.answered_by,
    }
