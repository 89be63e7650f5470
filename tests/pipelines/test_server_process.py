"""When a server of ours is no longer needed, it may end by itself; after a failure nobody waits for it."""

from pathlib import Path

import pytest

from pipelines.server_process import listening

CHILD = "tests.pipelines.serving.reluctant_child"


async def test_a_server_that_is_no_longer_needed_has_time_to_end(tmp_path: Path) -> None:
    async with listening(CHILD, str(tmp_path / "ended")) as (url, process):
        assert url == "ws://127.0.0.1:1/ws"
    assert process.returncode == 0
    assert (tmp_path / "ended").exists()


async def test_after_a_failure_a_server_that_does_not_end_is_killed(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError):
        async with listening(CHILD, str(tmp_path / "ended")) as (_, process):
            raise RuntimeError
    assert process.returncode == -9
    assert not (tmp_path / "ended").exists()


async def test_a_child_that_announces_nothing_has_no_address(tmp_path: Path) -> None:
    async with listening("this", str(tmp_path)) as (url, process):
        assert url is None
    assert process.returncode == 0
