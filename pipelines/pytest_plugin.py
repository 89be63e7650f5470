"""A pytest fixture that replays recordings to an agent, so that a project's tests limit its latency and check answers.

    def test_it_answers_in_time(turnaround_replay):
        replay = turnaround_replay(Agent("Be brief."), "recordings/", repeat=5)
        replay.check("answer p95 < 1500", "cut_offs == 0", "answers_ok == 1")

Nothing heavy is imported until a test uses the fixture.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest

if TYPE_CHECKING:
    from pipelines.agent import Agent
    from pipelines.replaying.agent_replay import Replay


class TurnaroundReplay(Protocol):
    """`pipelines.replay` with a run folder in the test's temporary folder."""

    def __call__(
        self, agent: "Agent", fixtures: str | Path | Sequence[str | Path] = (), *, repeat: int = 1
    ) -> "Replay":
        """Replay recordings to an agent; see `pipelines.replay`."""


@pytest.fixture
def turnaround_replay(tmp_path: Path) -> TurnaroundReplay:
    """Replays recordings to an agent and returns the `Replay`, with `report` and `check`."""
    runs = 0

    def run(agent: "Agent", fixtures: str | Path | Sequence[str | Path] = (), *, repeat: int = 1) -> "Replay":
        nonlocal runs
        from pipelines.replaying.agent_replay import replay

        runs += 1
        return replay(agent, fixtures, repeat=repeat, out=tmp_path / f"turnaround-run-{runs}")

    return run
