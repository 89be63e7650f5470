"""How soon one more caller is refused, and what the callers that are served notice of many who try.

python -m pytest tests/benchmarks/test_refusals.py -m slow -s

A server takes six calls (CALLERS in the environment gives another number). They run three times: alone, with four
attempts a second beside them, of which each fourth asks for an address by HTTP, and alone again. Takes four minutes.
"""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from tests.pipelines.server_process import ROOT, running_server

pytestmark = pytest.mark.slow

CALLERS = int(os.environ.get("CALLERS", "6"))
RATE = 4
"""Attempts in a second."""
RAMP = 2.5
"""Seconds between the beginnings of two calls."""
FULL = 30.0
"""Seconds during which all calls last; attempts are made within them."""


@dataclass
class Refusals:
    """How long each attempt took, in milliseconds, and how it was answered, by the way it was made."""

    took: dict[str, list[float]] = field(default_factory=lambda: {"WebSocket": [], "POST /start": []})
    answers: Counter[str] = field(default_factory=Counter)

    def note(self, way: str, began: float, answer: str) -> None:
        self.took[way].append((time.perf_counter() - began) * 1000)
        self.answers[f"{way}: {answer}"] += 1

    def __str__(self) -> str:
        def line(took: list[float]) -> str:
            p50, p95 = np.percentile(took, [50, 95])
            return f"p50 {p50:.0f}, p95 {p95:.0f}, max {max(took):.0f} ms (n {len(took)})"

        return "; ".join(f"{way} {line(took)}" for way, took in self.took.items())


async def by_socket(url: str, found: Refusals) -> None:
    began = time.perf_counter()
    async with connect(url) as socket:
        try:
            await socket.recv()
        except ConnectionClosed as closed:
            found.note("WebSocket", began, str(closed.rcvd and closed.rcvd.code))
        else:
            found.note("WebSocket", began, "taken")


async def by_http(url: str, found: Refusals) -> None:
    host, port = urlsplit(url).hostname, urlsplit(url).port
    began = time.perf_counter()
    reader, writer = await asyncio.open_connection(host, port)
    head = f"POST /start HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
    writer.write(f"{head}Connection: close\r\n\r\n{{}}".encode())
    status = (await reader.readline()).split()[1].decode()
    found.note("POST /start", began, status)
    writer.close()
    await writer.wait_closed()


async def attempts(url: str, found: Refusals) -> None:
    """Try again and again, once all calls have begun."""
    await asyncio.sleep(CALLERS * RAMP + 1)
    for number in range(round((FULL - 4) * RATE)):
        begun = time.monotonic()
        await (by_http if number % 4 == 0 else by_socket)(url, found)
        await asyncio.sleep(max(0.0, begun + 1 / RATE - time.monotonic()))


async def served(url: str, folder: Path, *, attempted: Refusals | None) -> dict[str, object]:
    """The turns of the callers, as the report has them."""
    command = [sys.executable, "-m", "pipelines.cli", "load", "--callers", str(CALLERS), "--url", url]
    command += ["--ramp", f"{CALLERS * RAMP:g}", "--out", str(folder)]
    load = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdout=subprocess.DEVNULL)
    if attempted is not None:
        await attempts(url, attempted)
    await load.wait()
    report = [sys.executable, "-m", "latency", "report", "--json", str(folder)]
    done = await asyncio.to_thread(subprocess.run, report, cwd=ROOT, capture_output=True, text=True, check=False)
    found: dict[str, object] = json.loads(done.stdout)
    return found


async def test_one_more_caller_is_refused_at_once_and_the_others_do_not_notice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = ("--pipeline", "sim-single", "--set", "llm.large.model=steady")
    refusals = Refusals()
    with running_server(*model, "--calls", str(CALLERS)) as server:
        runs = {
            name: await served(server.url, tmp_path / name, attempted=refusals if name == "with attempts" else None)
            for name in ("alone", "with attempts", "alone again")
        }
    with capsys.disabled():
        print(f"\n{CALLERS} callers, {RATE} attempts a second; load {os.getloadavg()[0]:.1f}\nrefused: {refusals}")
        for name, found in runs.items():
            print(f"{name}: turns {found['turns']}, latency {found['turn_ms']}")
    assert set(refusals.answers) == {"WebSocket: 1013", "POST /start: 503"}
