"""Who speaks in fixtures, as clips.csv beside the recordings says."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from pipelines.lab.bench.callers import callers, unfitted
from pipelines.lab.bench.pauses import with_pauses
from pipelines.lab.fitted import fitted_speakers
from pipelines.samples import PEOPLE
from voice.client.fixtures.fixture import Fixture, load_fixtures

SAMPLES = Path(__file__).resolve().parents[4] / "samples"


@pytest.fixture
def fixtures(tmp_path: Path) -> list[Fixture]:
    """Two sentences by Ann, one by Bob and one by nobody known, who has no labels and no text either."""
    folder = tmp_path / "clips"
    shutil.copytree(SAMPLES / "arithmetic", folder)
    (folder / "clips.csv").write_text("clip,style,speaker\n01,x,ann\n02,x,ann\n03,x,bob\n04,x,bob\n")
    scenario = folder / "scenario.yaml"
    lines = scenario.read_text().splitlines()
    scenario.write_text("\n".join(line for line in lines if "speaker:" not in line))
    bare = tmp_path / "bare.wav"
    shutil.copy(SAMPLES / "commands" / "01.wav", bare)
    return load_fixtures([folder, bare])


def names(fixtures: list[Fixture]) -> list[tuple[str, str]]:
    return [(turn.name, turn.speaker) for fixture in fixtures for turn in fixture.turns]


def test_the_table_beside_the_recordings_names_their_speakers(fixtures: list[Fixture]) -> None:
    told = dict(names(fixtures))
    assert (told["01.wav"], told["03.wav"]) == ("ann", "bob")
    assert (told["05.wav"], told["bare.wav"]) == ("arithmetic/call", "bare"), "without it, the conversation's name"


def test_fitted_speakers_are_left_out_if_others_speak(fixtures: list[Fixture]) -> None:
    kept = names(unfitted(fixtures, {"ann"}))
    assert kept == [(name, speaker) for name, speaker in names(fixtures) if speaker != "ann"]


def test_a_fixture_without_any_turn_left_is_not_called(fixtures: list[Fixture]) -> None:
    ann = replace(fixtures[0], turns=fixtures[0].turns[:2])
    assert [fixture.name for fixture in unfitted([ann, fixtures[1]], {"ann"})] == ["bare"]


def test_fitted_speakers_speak_if_nobody_else_does(fixtures: list[Fixture]) -> None:
    ann = replace(fixtures[0], turns=fixtures[0].turns[:2])
    assert names(unfitted([ann], {"ann"})) == [("01.wav", "ann"), ("02.wav", "ann")]


def test_the_callers_are_counted(fixtures: list[Fixture]) -> None:
    found = callers(fixtures, fitted={"bob", "carol"}, conversations={fixture.name for fixture in fixtures})
    assert (found.turns, found.speakers, found.fitted) == (7, ("ann", "bob"), ("bob",))
    assert (found.unnamed, found.estimated, found.wordless) == (3, 1, 1)


def test_the_turns_of_fitted_speakers_are_known_by_conversation_and_number(fixtures: list[Fixture]) -> None:
    kept = unfitted(fixtures, {"ann"})
    assert callers(kept, fitted={"ann"}, conversations=()).fitted_turns == ()
    assert callers(fixtures, fitted={"bob"}, conversations=()).fitted_turns == (
        ("arithmetic/call", 2),
        ("arithmetic/call", 3),
    )


def test_the_people_of_the_samples_who_are_outside_the_fit_call_by_default() -> None:
    found = callers(unfitted(load_fixtures([PEOPLE]), fitted_speakers()), fitted=fitted_speakers(), conversations=())
    assert (len(found.speakers), found.turns, found.fitted) == (24, 65, ())


def test_a_recording_with_a_pause_keeps_its_speaker(fixtures: list[Fixture], tmp_path: Path) -> None:
    paused = load_fixtures([with_pauses(fixtures, tmp_path / "out", copies=2)])
    told = {name.split("-")[-1]: speaker for name, speaker in names(paused)}
    assert told == {name: speaker for name, speaker in names(fixtures) if name in told}
    assert set(told.values()) >= {"ann", "bob"}


def test_the_fit_names_its_speakers() -> None:
    found = fitted_speakers()
    assert found
    assert all(name == name.strip() and not name.startswith("#") for name in found)
    samples = {turn.speaker for fixture in load_fixtures([SAMPLES]) for turn in fixture.turns}
    assert samples <= found, "the fit used the synthetic voices of the samples"
