from pathlib import Path

import pytest

from pipelines.lab.bench.callers import EARLIEST, LATEST, interrupting
from voice.client.fixtures.fixture import load_fixtures
from voice.errors import FixtureError

SAMPLES = Path(__file__).resolve().parents[4] / "samples"


def test_each_recording_interrupts_as_often_as_there_are_copies() -> None:
    (fixture,) = load_fixtures([SAMPLES / "commands"])
    found = interrupting([fixture], copies=3)
    for one in found:
        asks, *barge_ins = one.turns
        assert not asks.barge_in
        assert all(turn.barge_in for turn in barge_ins)
        assert sorted(turn.name for turn in barge_ins) == sorted(turn.name for turn in fixture.turns)
    assert len({one.name for one in found}) == 3
    waits = {turn.send_after.delay for one in found for turn in one.turns if turn.send_after}
    assert len(waits) == 3 * len(fixture.turns)
    assert all(EARLIEST <= wait <= LATEST for wait in waits)


def test_the_same_seed_makes_the_same_conversations() -> None:
    fixtures = load_fixtures([SAMPLES / "commands", SAMPLES / "units"])

    def plan(seed: int) -> list[list[tuple[str, object]]]:
        made = interrupting(fixtures, copies=2, seed=seed)
        return [[(turn.name, turn.send_after) for turn in one.turns] for one in made]

    assert plan(1) == plan(1) != plan(2)


def test_a_hum_is_spoken_into_answers_and_asks_nothing() -> None:
    (fixture,) = load_fixtures([SAMPLES / "backchannel"])
    assert any(turn.backchannel for turn in fixture.turns)
    (found,) = interrupting([fixture], copies=1)
    asks, *over = found.turns
    assert not asks.backchannel
    assert sum(turn.backchannel for turn in over) == sum(turn.backchannel for turn in fixture.turns)
    assert not any(turn.barge_in for turn in over if turn.backchannel)
    hum = next(turn for turn in fixture.turns if turn.backchannel)
    with pytest.raises(FixtureError, match="no speech"):
        interrupting([type(fixture)(name="a", source=fixture.source, group="", turns=(hum,), notices=())], copies=1)
