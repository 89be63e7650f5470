"""A language model in this process keeps its pace beside two busy threads; run with -s to see the ratios.

Spinning threads make this a cliff: with two of them per request and two busy ones beside, a hundredth of the pace was
left on two cores. With one thread, or waiting threads that sleep, what is left is a fair share. Alone and beside
alternate, and the best of each counts: whatever else runs on the machine only slows.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.voice.llm.wires.in_process.scripted_gguf import build

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
TOKENS = 60
ROUNDS = 3
LEAST_PACE = 0.2
"""Share of the pace alone that must be left; a fair share of two cores among three threads is two thirds."""
PROGRAM = """
import asyncio, json, sys, time
from pathlib import Path
from pipelines.threads import limit_threads
limit_threads()
from voice.llm.wires.in_process.engine import Message
from voice.llm.wires.in_process.gguf_file import read_gguf
from voice.llm.wires.in_process.model import OwnModel

async def main():
    model = OwnModel.load(read_gguf(Path(sys.argv[1])), threads=int(sys.argv[2]))
    model.read("Be brief.").result()
    rounds = []
    for _ in range(3):
        began = time.perf_counter()
        times = [
            time.perf_counter() - began
            async for _ in model.stream("Be brief.", [Message("user", "word " * 40)], longest=int(sys.argv[3]))
        ]
        rounds.append((times[0], (len(times) - 2) / (times[-2] - times[0])))
    model.close()
    print(json.dumps({"first": min(first for first, _ in rounds), "pace": max(pace for _, pace in rounds)}))

asyncio.run(main())
"""


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Processes that keep a core busy each, as recognition and speech do at their peaks."""
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def measure(folder: Path, *, threads: int, beside: int) -> dict[str, Any]:
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("OMP_")}
    with busy(beside):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(folder), str(threads), str(TOKENS)],
            cwd=ROOT, env=inherited, capture_output=True, text=True, timeout=300,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _best(found: list[dict[str, Any]]) -> dict[str, Any]:
    return {"first": min(one["first"] for one in found), "pace": max(one["pace"] for one in found)}


@pytest.mark.parametrize("threads", [1, 2])
def test_two_busy_threads_leave_it_a_fair_share(threads: int, tmp_path: Path) -> None:
    folder = build(tmp_path / "model.gguf", endless=True, width=512, layers=12, fillers=32_000)
    rounds = [[measure(folder, threads=threads, beside=count) for count in (0, 2)] for _ in range(ROUNDS)]
    alone, beside = (_best(list(cell)) for cell in zip(*rounds, strict=True))
    pace, wait = beside["pace"] / alone["pace"], beside["first"] / alone["first"]
    print(
        f"\n{threads} thread(s): alone {alone['pace']:.0f} tokens/s, first after {alone['first'] * 1000:.0f} ms; "
        f"beside two busy threads {beside['pace']:.0f} tokens/s ({pace:.0%}), first after "
        f"{beside['first'] * 1000:.0f} ms ({wait:.1f}x)"
    )
    assert pace > LEAST_PACE
    assert wait < 1 / LEAST_PACE
