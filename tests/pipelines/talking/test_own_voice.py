"""A call through the real pipeline by loudspeaker and microphone in one simulated room."""

from pathlib import Path

import pytest

from tests.pipelines.server_process import ServerProcess
from tests.voice.client.sound.room_call import call_in_a_room, false_turns, spoken_by_the_agent, stopped_without_cause
from tests.voice.client.sound.simulated_room import SimulatedRoom
from voice.client.fixtures.fixture import FixtureTurn, load_fixtures

SAMPLES = Path(__file__).parents[3] / "samples"


def tour() -> tuple[FixtureTurn, ...]:
    return load_fixtures([SAMPLES / "tour"])[0].turns


async def test_the_agent_does_not_stop_for_its_own_voice(server: ServerProcess) -> None:
    room = SimulatedRoom(delay=0.1, level=-12, drift=50)
    result = await call_in_a_room(server.url, tour()[1:3], room, cancels=True, longest=60)
    assert len(result.placed) == 2
    assert spoken_by_the_agent(result) > 3
    assert stopped_without_cause(result) == 0
    assert false_turns(result) == []


@pytest.mark.slow
@pytest.mark.parametrize("cancels", [True, False])
@pytest.mark.parametrize("delay", [0.04, 0.1, 0.2, 0.3])
@pytest.mark.parametrize("level", [-6, -12, -20])
async def test_a_whole_conversation_in_a_room(
    server: ServerProcess, level: float, delay: float, cancels: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """Prints the figures of docs/benchmarks/2026-11-24-echo.md, and holds the limit where echo is cancelled."""
    room = SimulatedRoom(delay=delay, level=level, drift=50)
    result = await call_in_a_room(server.url, tour(), room, cancels=cancels, longest=180)
    with capsys.disabled():
        print(
            f"\n{level} dB, {delay * 1000:.0f} ms, {'cancelled' if cancels else 'not cancelled'}: the agent spoke for "
            f"{spoken_by_the_agent(result):.0f} s, stopped {stopped_without_cause(result)} times without cause, "
            f"{len(false_turns(result))} false turns"
        )
    if cancels:
        assert stopped_without_cause(result) == 0
        assert false_turns(result) == []
