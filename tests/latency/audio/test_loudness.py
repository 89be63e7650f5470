from typing import Any

import numpy as np
import pytest

from latency.audio import loudness as frames
from latency.selftest import synthetic

RATE = 16000


def db(value: float) -> float:
    return float(20 * np.log10(value))


def test_the_median_by_comparisons_is_the_median() -> None:
    values = np.random.default_rng(0).random(500).astype(np.float32)
    expected = max(float(np.median(values[at : at + 5])) for at in range(496))
    assert frames.loudest(values) == pytest.approx(expected)


def test_the_active_level_ignores_pauses_and_clicks() -> None:
    sound = np.zeros(20 * RATE, np.float32)
    sound[RATE : 3 * RATE] = synthetic.noise(2.0, RATE, np.random.default_rng(1), level=-23)
    sound[10 * RATE : 10 * RATE + 100] = 1.0
    found = frames.active_level(frames.levels(sound, RATE))
    assert found is not None
    assert db(found) == pytest.approx(-23, abs=0.2)


@pytest.mark.parametrize("count", [0, 3, 200])
def test_silence_has_no_level_no_extremes_and_no_background(count: int) -> None:
    silence = np.zeros(count, np.float32)
    assert frames.active_level(silence) is None
    assert frames.loudest(silence) == 0
    assert frames.extremes(silence) == (None, None)
    assert not frames.background(silence, above=0.0).any()


@pytest.mark.parametrize("pink", [False, True])
def test_steady_noise_around_speech_is_background_and_speech_is_not(pink: bool) -> None:
    random = np.random.default_rng(2)
    sound = synthetic.noise(5.0, RATE, random, level=-40, pink=pink)
    sound[2 * RATE : 3 * RATE] += synthetic.voice(1.0, RATE, random)
    found = frames.background(frames.levels(sound.astype(np.float32), RATE), above=frames.decibels(-55))
    assert found.sum() > 100
    assert not found[200:300].any()


def test_a_long_vowel_is_no_background() -> None:
    time = np.arange(3 * RATE) / RATE
    sound = (0.1 * np.sin(2 * np.pi * 120 * time)).astype(np.float32)
    assert not frames.background(frames.levels(sound, RATE), above=frames.decibels(-55)).any()


def test_a_click_is_not_sustained_and_30_of_50_ms_are() -> None:
    loud = np.array([0, 1, 1, 0, 0, 0, 0, 1, 0, 1, 1, 0, 0], np.bool_)
    assert frames.runs(frames.sustained(loud)).tolist() == [[7, 8], [9, 11]]
    assert not frames.sustained(np.zeros(4, np.bool_)).any()


def test_ranges_less_than_the_distance_apart_are_one() -> None:
    ranges = np.array([[0, 10], [14, 20], [25, 30]])
    assert frames.join(ranges, 5).tolist() == [[0, 20], [25, 30]]
    assert frames.join(ranges[:1], 5).tolist() == [[0, 10]]


@pytest.mark.parametrize("samples", [np.zeros((4, 2)), np.zeros((0, 1), np.int16)])
def test_an_array_that_is_not_one_channel_is_refused(samples: Any) -> None:
    with pytest.raises(ValueError, match="one dimension"):
        frames.as_floats(samples)
