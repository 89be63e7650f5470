"""`voice serve` in a process of its own, as users start it."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LISTENING = "Listening on "


@dataclass(frozen=True)
class ServerProcess:
    """A running server and the URL of its calls."""

    process: subprocess.Popen[str]
    url: str

    @property
    def health(self) -> str:
        return self.url.replace("ws", "http", 1).removesuffix("/ws") + "/healthz"


def start_server(*options: str) -> ServerProcess:
    """Start `voice serve` on a free port and wait until it accepts calls."""
    command = [sys.executable, "-m", "pipelines.cli", "serve", "--port", "0", "--until-stdin-closes", *options]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith(LISTENING), f"the server said {line!r}"
    return ServerProcess(process, line.removeprefix(LISTENING).strip())


def stop_server(server: ServerProcess) -> int:
    """Stop it as a parent process does, by closing its standard input; returns its exit status."""
    assert server.process.stdin is not None
    server.process.stdin.close()
    return server.process.wait(10)


@contextmanager
def running_server(*options: str) -> Iterator[ServerProcess]:
    """Run `voice serve` while the context lasts."""
    running = start_server(*options)
    try:
        yield running
    finally:
        stop_server(running)
