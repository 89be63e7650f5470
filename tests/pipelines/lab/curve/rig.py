"""Recordings of the samples as the real detectors hear them, each listened to once a test session."""

from dataclasses import replace
from functools import cache
from pathlib import Path

from pipelines.lab.curve.recorded import DetectorReports
from pipelines.lab.curve.recorder import record
from voice.client.fixtures.fixture import Fixture, load_fixtures
from voice.turns.turn_models import TurnModels

SAMPLES = Path(__file__).resolve().parents[4] / "samples"


@cache
def models() -> TurnModels:
    """Silero and Smart Turn."""
    return TurnModels(smart_turn=True)


def sample(folder: str, *turns: int) -> Fixture:
    """A sample's conversation, or only some of its turns."""
    (fixture,) = load_fixtures([SAMPLES / folder])
    return replace(fixture, turns=tuple(fixture.turns[turn] for turn in turns)) if turns else fixture


@cache
def recorded(folder: str, *turns: int) -> DetectorReports:
    """What the detectors report of it."""
    return record([sample(folder, *turns)], inserted=False, progress=lambda done, of: None)
