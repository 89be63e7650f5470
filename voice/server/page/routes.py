"""The pages of a server: one to talk to its agent, one with the calls under way. They load nothing from elsewhere."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute

from voice.server.authentication import Access
from voice.server.metrics import CallFigures

PAGE_PATH = "/"
FILES_PATH = "/page/{name}"
"""The path of the page's scripts and styles."""
INDEX = "index.html"
TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
}
HEADERS = {
    # "self" includes the WebSocket of the same host.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Permissions-Policy": "microphone=(self), speaker-selection=(self)",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}
CALLS_PAGE_PATH = "/live"
CALLS_PAGE = "live.html"
CALLS_PATH = "/live/calls"
"""The path from which that page reads the calls under way."""


def take_head(routes: Iterable[BaseRoute]) -> None:
    """Make GET routes answer HEAD as well; unlike Starlette, FastAPI does not do so by itself."""
    for route in routes:
        if isinstance(route, APIRoute) and route.methods and "GET" in route.methods:
            route.methods.add("HEAD")


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file of the page."""

    content: bytes
    media_type: str


@cache
def page_files() -> dict[str, PageFile]:
    """All files of the page by name."""
    return {
        file.name: PageFile(file.read_bytes(), TYPES[kind])
        for file in (files("voice.server.page") / "static").iterdir()
        if (kind := file.name.rpartition(".")[2]) in TYPES
    }


def page_routes(access: Access, under_way: Callable[[], Sequence[CallFigures] | None]) -> APIRouter:
    """The addresses of both pages.

    Args:
        access: who may see the calls under way.
        under_way: the calls under way; None without metrics.
    """
    routes = APIRouter()

    @routes.get(PAGE_PATH)
    @routes.get(FILES_PATH)
    async def page(name: str = INDEX) -> Response:
        """A file of the pages. They hold no secrets; access is checked when a call begins."""
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
        """The calls under way; needs the server's token."""
        refusal = access.refusal_of_stranger(request.headers)
        if refusal:
            return JSONResponse({"error": refusal.reason}, refusal.status)
        figures = under_way()
        if figures is None:
            return JSONResponse({"error": "This server keeps no figures."}, 404)
        found = [asdict(one) | {"seconds": round(one.seconds, 1)} for one in figures]
        return JSONResponse({"calls": found}, headers={"Cache-Control": "no-store"})

    take_head(routes.routes)
    return routes
