import os
from pathlib import Path

import pytest

from voice.cache import user_cache


def test_the_cache_is_where_the_platform_keeps_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert user_cache() == tmp_path / "turnaround"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", os.sep + "somebody")
    monkeypatch.setattr("sys.platform", "linux")
    assert user_cache() == Path("/somebody/.cache/turnaround")
    monkeypatch.setattr("sys.platform", "darwin")
    assert user_cache() == Path("/somebody/Library/Caches/turnaround")
