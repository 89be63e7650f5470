"""What a start loads, and how long it takes."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
READY_WITHIN = 3.0
"""Seconds, from a warm disk."""
STARTS = 5
LOADED = """
import asyncio, sys
from pipelines import Agent

async def main():
    agent = Agent(pipeline="embedded")
    await agent.start()
    await agent.close()

asyncio.run(main())
print(*sys.modules)
"""


def test_the_embedded_pipeline_loads_no_other_engine_and_no_providers_sdk() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    assert {"openai", "anthropic", "faster_whisper", "ctranslate2"}.isdisjoint(done.stdout.split())


@pytest.mark.slow
@pytest.mark.parametrize("pipeline", ["embedded", "sim-adaptive"])
def test_a_server_is_ready_within_three_seconds(
    pipeline: str, serve: Callable[..., AbstractContextManager[Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    """The median of five starts; one before them warms the disk and builds the language model."""
    took = []
    for _ in range(STARTS + 1):
        began = time.perf_counter()
        with serve("--pipeline", pipeline):
            took.append(time.perf_counter() - began)
    median = statistics.median(took[1:])
    with capsys.disabled():
        shown = ", ".join(f"{seconds:.2f}" for seconds in took[1:])
        print(f"\n{pipeline}: ready after {median:.2f} s (median of {shown}), load {os.getloadavg()[0]:.1f}")
    assert median <= READY_WITHIN
