"""A server is the same after a thousand short calls: memory, tasks, threads, descriptors and processes.

python -m pytest tests/benchmarks/test_thousand_calls.py -m slow -s

Several callers at a time, in turns: one whole turn, a handshake alone, half a sentence and a hang-up, half a sentence
and a connection that breaks. CALLS in the environment gives another number of calls.
"""

import os
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.benchmarks.churn import check_flat, serving, some_calls

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="memory is read as on Linux")]

CALLS = int(os.environ.get("CALLS", "1000"))
AT_ONCE = 6
ROUND = 100
"""Calls between two measurements, which are made when the server is idle."""


async def test_a_thousand_short_calls_leave_nothing_behind(tmp_path: Path) -> None:
    outcomes, sizes = Counter[str](), []
    with serving(tmp_path, "embedded") as server:
        print(f"\n     0 calls: {await server.idle()}")
        for number in range(1, CALLS // ROUND + 1):
            begun = time.monotonic()
            outcomes += await some_calls(server.url, ROUND, at_once=AT_ONCE)
            took = time.monotonic() - begun
            sizes.append(await server.idle())
            print(f"{number * ROUND:6} calls: {sizes[-1]}; {took:.0f} s", flush=True)
        print(", ".join(f"{count} {outcome}" for outcome, count in outcomes.items()))
        check_flat(sizes, server)
