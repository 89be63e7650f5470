"""A package index on loopback with made-up wheels, and the model of made-up bytes that they have."""

import hashlib
import io
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from voice.models.table import Model, ModelFile, Wheel

NAME = "made-up"
WEIGHTS = bytes(range(256)) * 2000
FILES = {"config.json": b'{"made": "up"}', "made-up.gguf": b"GGUF" + WEIGHTS}
HALF = len(FILES["made-up.gguf"]) // 2
MEMBERS = (
    {"made_up_part1/config.json": FILES["config.json"], "made_up_part1/p1": FILES["made-up.gguf"][:HALF]},
    {"made_up_part2/p2": FILES["made-up.gguf"][HALF:]},
)
"""What the members of the two wheels are."""


def wheel(package: str, members: Mapping[str, bytes]) -> bytes:
    """A wheel of version 1.0, the same bytes for the same members."""
    name = package.replace("-", "_")
    about = {
        f"{name}-1.0.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n".encode(),
        f"{name}-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{name}-1.0.dist-info/RECORD": b"",
    }
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in {**members, **about}.items():
            archive.writestr(zipfile.ZipInfo(path), data, zipfile.ZIP_DEFLATED)
    return content.getvalue()


def parts(*members: Mapping[str, bytes]) -> dict[str, bytes]:
    """The wheels with these members, by package."""
    return {f"made-up-part{part}": wheel(f"made-up-part{part}", one) for part, one in enumerate(members, start=1)}


def row(wheels: Mapping[str, bytes] | None = None, files: Mapping[str, bytes] = FILES) -> Model:
    """The model, as a table would have it, from these wheels or the right ones."""
    found = wheels or parts(*MEMBERS)
    members = (
        {"config.json": "made_up_part1/config.json", "made-up.gguf": "made_up_part1/p1"},
        {"made-up.gguf": "made_up_part2/p2"},
    )
    return Model(
        name=NAME,
        kind="language model",
        licence="none",
        main="made-up.gguf",
        files=tuple(ModelFile(name, len(data), hashlib.sha256(data).hexdigest()) for name, data in files.items()),
        wheels=tuple(
            Wheel(package, "1.0", len(data), hashlib.sha256(data).hexdigest(), taken)
            for (package, data), taken in zip(found.items(), members, strict=True)
        ),
        is_recommended=True,
    )


@dataclass
class Index:
    """What the index holds, how it fails, and what it was asked for."""

    wheels: dict[str, bytes] = field(default_factory=lambda: parts(*MEMBERS))
    is_page: bool = False
    """Whether everything is answered with a web page, as by a proxy that wants a login."""
    truncated: set[str] = field(default_factory=set)
    """Packages of whose wheel only the first half is sent."""
    held: str | None = None
    """The package whose wheel stops in the middle until `go_on`."""
    go_on: threading.Event = field(default_factory=threading.Event)
    holds: threading.Event = field(default_factory=threading.Event)
    """Whether a download has stopped in the middle."""
    fetched: list[str] = field(default_factory=list)
    url: str = ""

    @contextmanager
    def serving(self) -> Iterator["Index"]:
        """Listen at `url` until the end of the with block."""
        index = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                kind, package = self.path.strip("/").split("/")[:2]
                if index.is_page:
                    self.send(b"<html><body>Please log in</body></html>", "text/html")
                elif package not in index.wheels:
                    self.send_error(404)
                elif kind == "simple":
                    name = f"{package.replace('-', '_')}-1.0-py3-none-any.whl"
                    self.send(
                        f'<html><body><a href="/files/{package}/{name}">{name}</a></body></html>'.encode(), "text/html"
                    )
                else:
                    index.fetched.append(package)
                    self.send(index.wheels[package], "application/octet-stream", package)

            def send(self, body: bytes, kind: str, package: str = "") -> None:
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                half = len(body) // 2
                self.wfile.write(body[:half])
                self.wfile.flush()
                if package in index.truncated:
                    return
                if package and package == index.held:
                    index.holds.set()
                    index.go_on.wait()
                self.wfile.write(body[half:])

            def log_message(self, format: str, *args: Any) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{server.server_port}/simple"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield self
        finally:
            self.go_on.set()
            server.shutdown()
            server.server_close()
            thread.join()
