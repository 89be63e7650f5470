"""Whether the agent interrupts itself when its own voice comes back through the microphone at -12 dB.

The client's own echo canceller stands between, in a simulated room. Each call asks for "1, 2, ... 20" a dozen times and
has another delay, from 40 to 200 ms; several calls go on at once, in real time. The length counts the agent's speech.

python -m pytest tests/benchmarks/test_own_voice.py -m slow -s --own-voice-minutes 20
"""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path

import pytest

from tests.pipelines.server_process import running_server
from tests.voice.client.sound.room_call import call_in_a_room, false_turns, spoken_by_the_agent, stopped_without_cause
from tests.voice.client.sound.simulated_room import SimulatedRoom
from voice.client.call.call_result import CallResult
from voice.client.fixtures.fixture import load_fixtures
from voice.errors import CallRefused

SAMPLES = Path(__file__).parents[2] / "samples"
DELAYS = (0.04, 0.12, 0.2, 0.08, 0.16)
"""Seconds from the loudspeaker to the microphone, one call after the other."""
LEVEL, DRIFT = -12, 50
"""dB of the echo against what is played, and parts per million by which the microphone's clock is fast."""
AT_ONCE, ANSWERS = 2, 12
"""Calls that go on at the same time, and answers of each."""
WAIT = 15.0
"""Seconds until the next call after one that the server refused for want of headroom."""


@dataclass
class Heard:
    """What the calls so far came to."""

    seconds: float = 0.0
    self_interruptions: int = 0
    false_turns: list[str] = field(default_factory=list)
    asked: int = 0
    late: float = 0.0
    """Milliseconds by which the latest frame of the microphone was late."""

    def add(self, result: CallResult, delay: float) -> None:
        """Count a call, and print it."""
        stops, false = stopped_without_cause(result), false_turns(result)
        spoken, late = spoken_by_the_agent(result), result.pacing.summary().late_max_ms or 0.0
        self.seconds += spoken
        self.self_interruptions += stops
        self.false_turns += [turn.heard or "" for turn in false]
        self.asked += len(result.placed)
        self.late = max(self.late, late)
        print(
            f"delay {delay * 1000:.0f} ms: the agent spoke for {spoken:.0f} s, interrupted itself {stops} times, took "
            f"its own words for {len(false)} turns; {len(result.placed)} requests, microphone late by {late:.0f} ms",
            flush=True,
        )


async def _calls(url: str, heard: Heard, delays: Iterator[tuple[int, float]], seconds: float) -> None:
    request = load_fixtures([SAMPLES / "tour"])[0].turns[5]
    for number, delay in delays:
        room = SimulatedRoom(delay=delay, level=LEVEL, drift=DRIFT, seed=number)
        try:
            heard.add(await call_in_a_room(url, [request] * ANSWERS, room, cancels=True, longest=400), delay)
        except CallRefused as error:
            print(f"{error} The machine is busy; another call in {WAIT:.0f} s.", flush=True)
            await asyncio.sleep(WAIT)
        if heard.seconds >= seconds:
            return


@pytest.mark.slow
async def test_the_agent_does_not_interrupt_itself(pytestconfig: pytest.Config) -> None:
    seconds = 60 * float(pytestconfig.getoption("own_voice_minutes"))
    heard, delays = Heard(), enumerate(cycle(DELAYS))
    with running_server("--pipeline", "embedded") as server:
        async with asyncio.TaskGroup() as calls:
            for _ in range(AT_ONCE):
                calls.create_task(_calls(server.url, heard, delays, seconds))
    print(
        f"\n{heard.seconds / 60:.1f} minutes of its own voice at {LEVEL} dB: {heard.self_interruptions} "
        f"self-interruptions, false turns {heard.false_turns}, {heard.asked} requests"
    )
    assert heard.asked >= ANSWERS
    assert heard.self_interruptions == 0
    assert heard.false_turns == []
