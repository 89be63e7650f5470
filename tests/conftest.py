"""How the tests are spread over processes (`pytest -n 2`)."""

import os
import signal
from typing import Any

import pytest

# Before numpy is imported: idle OpenBLAS threads would spin on the cores that the tests need.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A shell without job control has what it starts in the background ignore Ctrl-C, and children inherit that: no test
# could send it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """A file's tests run in one process, and those of tests/pipelines all in the same.

    They hold conversations in real time: one at a time, the processors are theirs and those of the tests beside them.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Groups(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            return "conversations" if file.startswith("tests/pipelines/") else file

    # The longest group is among the first that are collected, but has not the most tests.
    config.option.loadscopereorder = False
    return Groups(config, log)
