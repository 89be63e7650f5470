"""What native code frees is not fetched anew from the system, from threads neither."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipelines.memory import SETTINGS

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="the allocator is not glibc's")
PASSES, PAGES = 5, 60_000_000 // 4096
FAULTS = f"""
import resource, sys
from concurrent.futures import ThreadPoolExecutor
from pipelines.agent import Agent
from pipelines.memory import keep_freed_memory
import numpy as np

if sys.argv[1] == "agent":
    Agent(pipeline="embedded")

def faults():
    # More than an arena of a thread holds.
    blocks = [np.ones(60_000_000, np.uint8) for _ in range(2)]
    del blocks
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

with ThreadPoolExecutor(1) as thread:
    first = thread.submit(faults).result()
    for _ in range({PASSES}):
        last = thread.submit(faults).result()
print(last - first)
"""


def faults(who: str, **variables: str) -> int:
    """Page faults of a process that has its memory from an agent, or from nobody."""
    environment = {name: value for name, value in os.environ.items() if name not in SETTINGS} | variables
    command = [sys.executable, "-c", FAULTS, who]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=True)
    return int(done.stdout)


def test_freed_memory_is_taken_again_without_page_faults() -> None:
    # Of numpy's blocks the system may back a part with huge pages, which fault once for 512.
    assert faults("agent") < PASSES * PAGES / 512
    assert faults("nobody") > PASSES * PAGES / 512


def test_what_the_environment_says_of_the_allocator_stays() -> None:
    assert faults("agent", MALLOC_MMAP_THRESHOLD_="100000") > PASSES * PAGES / 512
