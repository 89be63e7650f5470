"""A server in a process of its own that is sent what strangers may send, and how it is."""

import asyncio
import json
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.fuzz.raw_connection import Sent, send

ROOT = Path(__file__).resolve().parents[2]
ANSWERS_WITHIN = 5.0
"""Seconds, on a busy machine."""
LONGEST_LAG = 0.5
"""Seconds for which the event loop may be held up: it also has calls to begin, on a busy machine."""
CALM_WITHIN = 30.0
"""Seconds until what connections held is let go: calls end, their recognisers too."""
_LAG = re.compile(r"^voice_event_loop_lag_seconds (\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class Held:
    """What a process holds when nobody is connected."""

    descriptors: int
    threads: int
    processes: int


@dataclass
class LiveServer:
    """A running server.

    Parameters:
        process: its process.
        port: where it listens.
        log: what it writes to its standard error.
        has_figures: whether it has /metrics.
    """

    process: subprocess.Popen[str]
    port: int
    log: Path
    has_figures: bool
    _read: int = 0
    """How much of the log has been looked at."""

    def get(self, path: str) -> bytes:
        """What a page says.

        Raises:
            OSError: there is no answer in time.
        """
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"http://127.0.0.1:{self.port}{path}", timeout=ANSWERS_WITHIN) as answer:
            found: bytes = answer.read()
        return found

    def send(self, connections: Sequence[Sent]) -> None:
        """Make all these connections at once."""

        async def all_of_them() -> None:
            await asyncio.gather(*(send(one, self.port) for one in connections))

        asyncio.run(all_of_them())

    def check(self) -> None:
        """It runs, answers in time, has kept its loop free, and has printed no traceback.

        Raises:
            AssertionError: it does not.
        """
        whole = self.log.read_text(errors="replace")
        said, self._read = whole[self._read :], len(whole)
        assert self.process.poll() is None, f"it has ended with {self.process.returncode}: {said[-2000:]}"
        assert "Traceback" not in said, said[-4000:]
        assert json.loads(self.get("/healthz"))["ready"] is True
        if self.has_figures:
            assert self.lag < LONGEST_LAG

    @property
    def lag(self) -> float:
        """The longest time for which its event loop was held up in the last 5 s, seconds."""
        found = _LAG.search(self.get("/metrics").decode())
        assert found is not None
        return float(found[1])

    def held(self) -> Held:
        process = psutil.Process(self.process.pid)
        return Held(process.num_fds(), process.num_threads(), len(process.children(recursive=True)))

    def calm(self, before: Held | None = None) -> Held:
        """What it holds when all calls have ended, at the latest after `CALM_WITHIN`."""
        end = time.monotonic() + CALM_WITHIN
        while time.monotonic() < end:
            found = self.held()
            calls = json.loads(self.get("/healthz")).get("calls", 0)
            fewer = before is None or (
                found.descriptors <= before.descriptors + 2 and found.processes <= before.processes
            )
            if not calls and fewer:
                break
            time.sleep(0.2)
        return self.held()


@contextmanager
def live_server(folder: Path, command: str, *options: str) -> Iterator[LiveServer]:
    """Run a `voice` command that serves, until the context ends."""
    log = folder / f"{command}.log"
    line = [sys.executable, "-m", "pipelines.cli", command, "--port", "0", "--until-stdin-closes", *options]
    with log.open("w") as errors:
        process = subprocess.Popen(
            line, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
        )
        assert process.stdin is not None
        assert process.stdout is not None
        said = process.stdout.readline()
        try:
            found = re.search(r"Listening on \w+://127\.0\.0\.1:(\d+)", said)
            assert found is not None, f"it said {said!r}: {log.read_text()}"
            yield LiveServer(process, int(found[1]), log, has_figures=command == "serve")
        finally:
            process.stdin.close()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(5)
