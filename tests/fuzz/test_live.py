"""What strangers send to a running server: it does not die, prints no traceback, keeps its loop free and leaks nothing.

.venv/bin/pytest tests/fuzz/test_live.py -m slow -s     many thousand connections

Connections that a server once did not bear are kept in fallen_*.jsonl, one a line, and are made first.
"""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.fuzz.connections import to_simulator, to_voice
from tests.fuzz.live_server import LiveServer, live_server
from tests.fuzz.raw_connection import Sent, corpus
from voice.client.call.line import PacedLine
from voice.client.call.session import CallSession
from voice.client.caller.scripted_caller import ScriptedCaller
from voice.client.fixtures.fixture import load_fixtures

HERE = Path(__file__).parent
QUICK, LONG = 10, int(os.environ.get("FUZZ_EXAMPLES", "600"))
"""Examples, of up to `AT_ONCE` connections each."""
AT_ONCE = 12
SAMPLE = HERE.parents[1] / "samples" / "commands" / "02.wav"


@pytest.fixture(scope="module")
def voice(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    with live_server(tmp_path_factory.mktemp("voice"), "serve", "--pipeline", "embedded", "--resume", "1") as running:
        yield running


@pytest.fixture(scope="module")
def simulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    with live_server(tmp_path_factory.mktemp("simulator"), "simulate") as running:
        yield running


def tried(server: LiveServer, strategy: st.SearchStrategy[Sent], fallen: str, examples: int, *, seed: bool) -> None:
    """Make connections, and look at the server after each few of them.

    Raises:
        AssertionError: it has died, printed a traceback, was held up, or holds more than before.
    """
    path, made = HERE / fallen, 0
    known = corpus(path) if path.exists() else []
    server.send(known[:AT_ONCE])
    before = server.calm()
    for one in known:
        server.send([one])
        server.check()

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=seed,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(strategy, min_size=AT_ONCE // 2, max_size=AT_ONCE))
    def try_them(connections: list[Sent]) -> None:
        nonlocal made
        made += len(connections)
        server.send(connections)
        try:
            server.check()
        except AssertionError:
            print("\n".join(one.as_json() for one in connections))
            raise

    try_them()
    after = server.calm(before)
    print(f"\n{made} connections, {len(known)} of {fallen}; held {before}, then {after}")
    assert after.descriptors <= before.descriptors + 2
    assert after.threads <= before.threads + 6, "threads of the default executor stay"
    assert after.processes <= before.processes


def answers(server: LiveServer) -> None:
    """A real call is answered."""
    (fixture,) = load_fixtures([SAMPLE])
    session = CallSession(f"ws://127.0.0.1:{server.port}/ws", PacedLine(ScriptedCaller(fixture.turns, lead_in=0.3)))
    result = asyncio.run(session.run())
    assert result.closed is None
    assert result.utterances
    assert [one.turn.said for one in result.turns if one.turn.said]


def test_a_server_bears_strangers(voice: LiveServer) -> None:
    tried(voice, to_voice, "fallen_voice.jsonl", QUICK, seed=True)
    answers(voice)


def test_a_simulator_bears_strangers(simulator: LiveServer) -> None:
    tried(simulator, to_simulator, "fallen_simulator.jsonl", QUICK, seed=True)


@pytest.mark.slow
def test_a_server_bears_many_strangers(voice: LiveServer) -> None:
    tried(voice, to_voice, "fallen_voice.jsonl", LONG, seed=False)
    answers(voice)


@pytest.mark.slow
def test_a_simulator_bears_many_strangers(simulator: LiveServer) -> None:
    tried(simulator, to_simulator, "fallen_simulator.jsonl", LONG, seed=False)
