"""A Hugging Face hub with one repository on loopback, and programs that are told to use it.

The hub has the parts of the true one's interface that a download uses.
"""

import hashlib
import json
import os
import pty
import re
import socket
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote


@dataclass
class Hub:
    """What the hub holds, and what it has been asked for."""

    repository: str
    files: dict[str, bytes]
    large: set[str]
    """Files kept in LFS, which are announced with their SHA-256."""
    commit: str = "0123456789abcdef0123456789abcdef01234567"
    """The one that branch main points at, and the only one there is."""
    announced: dict[str, str] = field(default_factory=dict)
    """Digests to announce in place of the true ones."""
    broken: set[str] = field(default_factory=set)
    """Files that the server fails to send."""
    fetched: list[str] = field(default_factory=list)
    url: str = ""

    def digest(self, name: str) -> str:
        content = self.files[name]
        if name in self.large:
            return self.announced.get(name, hashlib.sha256(content).hexdigest())
        return self.announced.get(name, hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest())

    def information(self) -> dict[str, Any]:
        siblings = []
        for name, content in self.files.items():
            entry: dict[str, Any] = {"rfilename": name, "size": len(content), "blobId": self.digest(name)}
            if name in self.large:
                entry["lfs"] = {"sha256": self.digest(name), "size": len(content), "pointerSize": 130}
            siblings.append(entry)
        return {"id": self.repository, "modelId": self.repository, "sha": self.commit, "siblings": siblings, "tags": []}

    def answer(self, path: str) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body."""
        headers = {"X-Repo-Commit": self.commit}
        if path in [f"/api/models/{self.repository}/revision/{name}" for name in ("main", self.commit)]:
            return 200, headers | {"Content-Type": "application/json"}, json.dumps(self.information()).encode()
        if path.startswith(f"/api/models/{self.repository}"):
            return 404, headers | {"X-Error-Code": "RevisionNotFound"}, b""
        if (name := self.file_at(path)) is None:
            return 404, headers | {"X-Error-Code": "RepoNotFound"}, b""
        headers["ETag"] = f'"{self.digest(name)}"'
        return (403, headers, b"") if name in self.broken else (200, headers, self.files[name])

    def file_at(self, path: str) -> str | None:
        match = re.fullmatch(rf"/{self.repository}/resolve/{self.commit}/(.+)", path)
        return match[1] if match else None

    @contextmanager
    def serving(self) -> Iterator["Hub"]:
        """Listen at `url` until the end of the with block."""
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_HEAD(self) -> None:
                self.reply(with_body=False)

            def do_GET(self) -> None:
                self.reply(with_body=True)

            def reply(self, *, with_body: bool) -> None:
                path = unquote(self.path.partition("?")[0])
                if with_body and (name := hub.file_at(path)):
                    hub.fetched.append(name)
                status, headers, body = hub.answer(path)
                self.send_response(status)
                for key, value in headers.items():
                    self.send_header(key, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if with_body:
                    self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield self
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


def unreachable() -> str:
    """An address where nothing listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}"


def run(
    program: str, *arguments: str, endpoint: str, home: Path, terminal: bool = False, **environment: str
) -> tuple[dict[str, Any], str]:
    """Run a program that prints JSON; give that and what it wrote on stderr.

    In a new process, because huggingface_hub reads HF_ENDPOINT and its folders when it is imported.

    Args:
        endpoint: The hub's address.
        home: The folder of the hub's cache.
        terminal: Whether its stderr is a terminal.
    """
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("HF_", "HUGGING"))}
    hub = {"HF_ENDPOINT": endpoint, "HF_HOME": str(home), "HF_HUB_DISABLE_TELEMETRY": "1"}
    ours, theirs = pty.openpty() if terminal else (None, subprocess.PIPE)
    if ours is not None:
        termios.tcsetwinsize(ours, (24, 120))
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env=inherited | hub | environment,
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        stderr=theirs,
        timeout=120,
    )
    shown = done.stderr
    if ours is not None:
        os.close(theirs)
        shown = os.read(ours, 100_000)
        os.close(ours)
    assert done.returncode == 0, shown
    return json.loads(done.stdout), shown.decode()
