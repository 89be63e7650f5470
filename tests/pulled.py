"""Models that were pulled on this machine, for tests that need real ones."""

import os

import pytest

REAL_CACHE = "TURNAROUND_TESTS_REAL_CACHE"
"""The environment variable that keeps the machine's own XDG_CACHE_HOME, empty where that is not set."""


def use_pulled(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Let this test, and the processes that it starts, find these models; skips it where one is not here."""
    from voice.models.store import find

    if real := os.environ[REAL_CACHE]:
        monkeypatch.setenv("XDG_CACHE_HOME", real)
    else:
        monkeypatch.delenv("XDG_CACHE_HOME")
    if missing := [name for name in names if find(name) is None]:
        pytest.skip(f"the models are not here: voice models pull {' '.join(missing)}")
