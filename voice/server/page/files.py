"""The files of the page, and the headers that keep it to this server: it loads nothing from anywhere else."""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

PAGE_PATH = "/"
FILES_PATH = "/page/{name}"
"""Where the page finds its scripts and styles."""
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
