"""How long a server takes to start.

python -m pytest tests/benchmarks/test_start.py -m slow -s
"""

import os
import statistics
import time

import pytest

from tests.pipelines.server_process import running_server

READY_WITHIN = 3.0
"""Seconds, from a warm disk."""
STARTS = 5


@pytest.mark.slow
@pytest.mark.parametrize("pipeline", ["embedded", "sim-adaptive"])
def test_a_server_is_ready_within_three_seconds(pipeline: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The median of five starts, after one that warms the disk and builds the language model."""
    took = []
    for _ in range(STARTS + 1):
        began = time.perf_counter()
        with running_server("--pipeline", pipeline):
            took.append(time.perf_counter() - began)
    median = statistics.median(took[1:])
    with capsys.disabled():
        shown = ", ".join(f"{seconds:.2f}" for seconds in took[1:])
        print(f"\n{pipeline}: ready after {median:.2f} s (median of {shown}), load {os.getloadavg()[0]:.1f}")
    assert median <= READY_WITHIN
