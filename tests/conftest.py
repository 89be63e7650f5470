"""Settings of the whole test run, and how tests are distributed over processes (`pytest -n 2`)."""

import contextlib
import os
import signal
import tempfile
from typing import Any

import pytest

from tests.pulled import REAL_CACHE

# Set before numpy is imported: idle OpenBLAS threads would spin on the cores that the tests need.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# The developer's own catalogue must not change what tests find.
os.environ["XDG_CONFIG_HOME"] = os.path.join(os.path.dirname(__file__), "no-config")

# Neither must the models that were pulled: a test that wants them asks for them (`tests.pulled`).
os.environ.setdefault(REAL_CACHE, os.environ.get("XDG_CACHE_HOME", ""))
if "PYTEST_XDIST_WORKER" not in os.environ:
    _cache = tempfile.TemporaryDirectory(prefix="turnaround-tests-")
    os.environ["XDG_CACHE_HOME"] = _cache.name

# A shell without job control starts background processes with Ctrl-C ignored, and child processes inherit that. Tests
# could not interrupt them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


CONVERSATIONS = frozenset(
    f"tests/pipelines/{name}.py"
    for name in (
        "lab/bench/test_calls",
        "pipecat_services/test_calls",
        "replaying/test_agent_replay",
        "replaying/test_conversation",
        "replaying/test_recorded_calls",
        "replaying/test_robustness",
        "serving/test_concurrent_calls",
        "serving/test_page",
        "serving/test_pipecat_client",
        "serving/test_stalls",
        "talking/test_own_voice",
        "test_agent",
        "test_local_pipeline",
        "test_tiered_call",
    )
)
"""Files whose tests hold calls in real time."""
COMPUTES = (
    "tests/latency/",
    "tests/voice/",
    *(f"tests/pipelines/{name}/" for name in ("calibrating", "catalog", "lab/curve", "lab/simulator", "lab/whatif")),
)
"""Folders whose tests mostly compute, and hold no whole calls: they give way to those that do."""
GIVES_WAY = 10
"""Their niceness."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """How long a slow test lets the agent hear its own voice, and the recordings that another plays over answers."""
    parser.addoption(
        "--own-voice-minutes",
        type=float,
        default=20.0,
        help="minutes of the agent's own voice in its microphone, in tests/benchmarks/test_own_voice.py (default: 20)",
    )
    parser.addoption(
        "--said-over-answers",
        default="",
        help="a folder of recordings of people and of noises for tests/benchmarks/test_interruptions.py",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let tests of `COMPUTES` give way, where the system lets a process take its usual priority back later."""
    if hasattr(os, "setpriority") and os.environ.get("PYTEST_XDIST_WORKER"):
        with contextlib.suppress(PermissionError):
            os.setpriority(os.PRIO_PROCESS, 0, GIVES_WAY if item.nodeid.startswith(COMPUTES) else 0)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """Run all tests of a file in one process, and those of all `CONVERSATIONS` in the same one.

    They run one after the other, with only one other process beside them: more would disturb their timing.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Groups(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            return "conversations" if file in CONVERSATIONS else file

    # Keep the order of collection: the longest group is collected early, but does not have the most tests.
    config.option.loadscopereorder = False
    return Groups(config, log)
