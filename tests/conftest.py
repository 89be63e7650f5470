"""Settings of the whole test run, and how tests are distributed over processes (`pytest -n 2`)."""

import os
import signal
from typing import Any

import pytest

# Set before numpy is imported: idle OpenBLAS threads would spin on the cores that the tests need.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A shell without job control starts background processes with Ctrl-C ignored, and child processes inherit that. Tests
# could not interrupt them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """Run all tests of a file in one process, and all of tests/pipelines in the same process.

    Those hold conversations in real time, so they run one after the other, with only one other process beside them.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Groups(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            return "conversations" if file.startswith("tests/pipelines/") else file

    # Keep the order of collection: the longest group is collected early, but does not have the most tests.
    config.option.loadscopereorder = False
    return Groups(config, log)
