"""The fit of the end-of-turn evidence, on observations whose truth is known."""

import math
import random
from dataclasses import replace

import numpy as np
import pytest

from pipelines.lab.curve.recorded import Clip, MessageRun, Silence, TimedVerdict
from tests.benchmarks.evidence_fit import Observation, fit, observation_weights, observations, ranked, unseen


def drawn(count: int, *, slope: float = 2.0, bias: float = -0.5, seed: int = 1) -> list[Observation]:
    """Observations of six speakers of three corpora whose sound alone says what they are."""
    chance, found = random.Random(seed), []
    for number in range(count):
        sound = chance.gauss(0.0, 1.5)
        is_end = chance.random() < 1 / (1 + math.exp(-(slope * sound + bias)))
        speaker = f"corpus{number % 3}_{number % 6}"
        one = Observation(
            speaker=speaker,
            is_end=is_end,
            synthetic=False,
            inserted=False,
            sound=sound,
            read=chance.random(),
            ends=None,
            spoken=0.0,
        )
        found.append(one)
    return found


def test_the_fit_finds_the_weights_that_the_observations_were_drawn_with() -> None:
    seen = drawn(4000)
    columns = np.array([[one.sound, one.read] for one in seen])
    bias, sound, read = fit(columns, np.array([one.is_end for one in seen]), np.ones(len(seen)))
    assert bias == pytest.approx(-0.5, abs=0.25)
    assert sound == pytest.approx(2.0, abs=0.2)
    assert read == pytest.approx(0.0, abs=0.3)


def test_both_kinds_weigh_the_same_and_a_large_corpus_does_not_drown_a_small_one() -> None:
    one = drawn(1)[0]
    seen = [replace(one, speaker=f"large_{n}", is_end=n % 10 == 0) for n in range(100)]
    seen += [replace(one, speaker="small_1", is_end=end) for end in (True, False, False, False)]
    weight = observation_weights(seen)
    ends, small = np.array([one.is_end for one in seen]), np.array([one.source == "small" for one in seen])
    assert weight[ends].sum() == pytest.approx(weight[~ends].sum())
    assert weight[~ends & small].sum() / weight[~ends & ~small].sum() == pytest.approx((3 / 90) ** 0.5)


def test_nothing_is_judged_by_a_fit_that_has_seen_it() -> None:
    """A corpus that says the opposite of all others is told wrong when it is left out."""
    seen = drawn(600)
    odd = [replace(one, speaker="odd_1", sound=-one.sound) for one in drawn(200, seed=2)]
    everything = [*seen, *odd]
    columns = np.array([[one.sound] for one in everything])
    logits = unseen(everything, columns, [one.source for one in everything])
    ends, is_odd = (
        np.array([flag(one) for one in everything])
        for flag in (lambda one: one.is_end, lambda one: one.source == "odd")
    )
    usual, opposite = ranked(logits, ends & ~is_odd, ~ends & ~is_odd), ranked(logits, ends & is_odd, ~ends & is_odd)
    assert usual is not None
    assert opposite is not None
    assert opposite < 0.3 < 0.7 < usual


def test_pairs_are_counted_with_ties_as_halves() -> None:
    logits = np.array([1.0, 0.0, 0.0, -1.0])
    ends = np.array([True, True, False, False])
    assert ranked(logits, ends, ~ends) == pytest.approx(3.5 / 4)
    assert ranked(logits, ends, ~ends & ends) is None


def silence(kind: str, began: float, *, pause: int | None = None, sound: float = 0.5) -> Silence:
    return Silence(
        kind=kind,  # type: ignore[arg-type]
        pause=pause,
        began=began,
        stopped=began + 0.2,
        resumed=None,
        counted=1.0,
        runs=(MessageRun(at=began + 0.2, counted=0.2, messages=50, doubtful=False),),
        asked=(TimedVerdict(after=0.1, probability=sound),),
        spoken=began - 0.5,
        speech=began - 0.5,
        text="what time is it",
        pauses=(),
    )


def recorded(*, inserted: bool) -> Clip:
    return Clip(
        name="call/1.wav",
        wav="1.wav",
        sha256="",
        speaker="corpus_1",
        synthetic=False,
        inserted=inserted,
        text="what time is it",
        truth="labelled",
        speech=((0.5, 1.5), (2.0, 3.5)),
        alignment="forced",
        silences=(
            silence("inside", 1.0),
            silence("pause", 1.5, pause=0, sound=0.0),
            silence("end", 3.5, sound=0.9),
        ),
    )


def test_a_recording_shows_its_pauses_and_its_end_and_with_an_inserted_pause_only_that() -> None:
    pause, end = observations(recorded(inserted=False))
    assert (pause.is_end, end.is_end) == (False, True)
    assert pause.spoken == pytest.approx(math.log(1.0))
    assert end.spoken == pytest.approx(math.log(3.0))
    assert end.sound == pytest.approx(math.log(9.0))
    assert pause.sound > -8  # bounded
    assert [(one.is_end, one.inserted) for one in observations(recorded(inserted=True))] == [(False, True)]
