"""What is measured, in which order, and on how many recordings; the clock is manual."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from pipelines.calibrating.decision import LEAST_UTTERANCES, ways
from pipelines.calibrating.measuring import BUDGET, TIMED, Utterance, measure_all, spread, utterances
from voice.asr.whisper.decoding import AUTO, FULL, SAMPLE_RATE, Decoding
from voice.client.fixtures.fixture import load_fixtures

SAMPLES = Path(__file__).resolve().parents[3] / "samples"
WAYS = ways()


class Ear:
    """Weights that hear what they are made to, and whose time is the manual clock's."""

    def __init__(self, slowness: float = 1.0) -> None:
        self.now = 0.0
        self.asked: list[tuple[Decoding, int]] = []
        self.deaf: set[Decoding] = set()
        self._slowness = slowness

    def hear(self, decoding: Decoding, samples: NDArray[np.float32]) -> str:
        self.asked.append((decoding, len(samples)))
        cost = 0.4 if decoding.context == "full" else decoding.least_context / 100
        cost *= (1.5 if decoding.beam_size > 1 else 1.0) / (1.6 if decoding.threads > 1 else 1.0)
        self.now += self._slowness * cost
        return "" if decoding in self.deaf and len(samples) % 2 else "set a timer for ten minutes"

    def clock(self) -> float:
        return self.now


def some(count: int) -> list[Utterance]:
    return [Utterance(text="Set a timer for 10 minutes.", samples=np.zeros(n, np.float32)) for n in range(count)]


def test_all_ways_are_measured_and_then_threads_for_the_chosen_one() -> None:
    ear, lines = Ear(), list[str]()
    found = measure_all(ear.hear, some(60), WAYS, say=lines.append, cores=2, clock=ear.clock)
    assert [row.decoding for row in found.rows] == WAYS
    assert found.chosen == replace(AUTO, threads=2)
    assert found.words == (6,) * 60
    assert found.rows[0].mean_seconds == pytest.approx(0.4)
    assert lines[0] == "  60 recordings with 360 words, about 21 s"
    assert [line.split()[0] for line in lines[1:]] == ["15", "30", "45", "60"]
    one_thread = [decoding for decoding, _ in ear.asked if decoding.threads == 1]
    assert len(one_thread) == len(WAYS) * (1 + TIMED) + TIMED, "words are counted with all cores"


def test_a_beam_that_takes_too_long_is_not_counted() -> None:
    ear = Ear(2.0)
    found = measure_all(ear.hear, some(60), WAYS, say=lambda _: None, cores=1, clock=ear.clock)
    assert [row.decoding for row in found.rows] == WAYS[:2]
    assert sum(decoding == WAYS[2] for decoding, _ in ear.asked) == 1 + TIMED


@pytest.mark.parametrize("slowness", [0.5, 2.0])
def test_the_announced_time_is_measured_and_kept(slowness: float) -> None:
    ear, announced = Ear(slowness), list[tuple[float, str]]()
    measure_all(ear.hear, some(500), WAYS, say=lambda line: announced.append((ear.now, line)), cores=2, clock=ear.clock)
    began, line = announced[0]
    assert float(line.split()[-2]) == pytest.approx(ear.now - began, rel=0.3)
    assert ear.now < 1.6 * BUDGET


def test_each_recording_is_heard_in_every_way_before_the_next_one() -> None:
    ear = Ear()
    measure_all(ear.hear, some(40), WAYS, say=lambda _: None, cores=1, clock=ear.clock)
    lengths = [length for _, length in ear.asked][len(WAYS) * (1 + TIMED) :]
    assert lengths == [length for length in range(40) for _ in WAYS]


def test_words_that_a_context_loses_keep_it_from_being_chosen() -> None:
    ear = Ear()
    ear.deaf = set(WAYS[1:2])
    found = measure_all(ear.hear, some(60), WAYS, say=lambda _: None, cores=1, clock=ear.clock)
    assert found.chosen == FULL
    assert sum(found.rows[1].errors) == 6 * 30


def test_slow_weights_hear_fewer_recordings_but_enough_to_decide() -> None:
    ear = Ear(500.0)
    found = measure_all(ear.hear, some(200), WAYS, say=lambda _: None, cores=2, clock=ear.clock)
    assert len(found.words) == LEAST_UTTERANCES
    assert found.chosen.context == "auto"


def test_recordings_are_left_out_evenly() -> None:
    found = some(10)
    assert [len(one.samples) for one in spread(found, 4)] == [0, 2, 5, 7]
    assert spread(found, 10) == spread(found, 99) == found


def test_an_utterance_is_cut_as_in_a_call_and_turns_without_words_are_left_out() -> None:
    fixtures = load_fixtures([SAMPLES / "backchannel", SAMPLES / "long_sentences"])
    turns = [turn for fixture in fixtures for turn in fixture.turns if turn.text and turn.speech]
    found = utterances(fixtures)
    assert [one.text for one in found] == [turn.text for turn in turns]
    assert len(found) < sum(len(fixture.turns) for fixture in fixtures)
    for one, turn in zip(found, turns, strict=True):
        assert len(one.samples) / SAMPLE_RATE == pytest.approx(
            min(turn.onset, 0.5) + turn.end - turn.onset + 0.1, abs=1e-3
        )
        assert one.samples.dtype == np.float32
        assert 0.1 < np.abs(one.samples).max() <= 1.0


def test_our_samples_can_decide() -> None:
    words = Counter(one.words > 0 for one in utterances(load_fixtures([SAMPLES])))
    assert words[True] >= 60
    assert words[False] == 0
