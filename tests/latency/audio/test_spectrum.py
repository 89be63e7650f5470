import numpy as np
import pytest

from latency.audio.spectrum import standing_out
from latency.selftest import synthetic

RATE = 16000
NOISE = np.r_[np.ones(80, np.bool_), np.zeros(220, np.bool_)]
"""The first 0.8 of 3 s."""


def spans(sound: np.ndarray, limit: float = 0.0, noise: np.ndarray = NOISE) -> list[list[float]]:
    return (standing_out(sound.astype(np.float32), RATE, noise, limit) / RATE).tolist()


def in_noise(sound: np.ndarray, level: float = -40, *, pink: bool = True, seed: int = 1) -> np.ndarray:
    samples = synthetic.noise(3.0, RATE, np.random.default_rng(seed), level=level, pink=pink)
    samples[RATE : RATE + len(sound)] += sound
    return samples


@pytest.mark.parametrize("pink", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_a_voice_20_db_above_the_noise_is_found_where_it_is(seed: int, pink: bool) -> None:
    sound = synthetic.voice(1.0, RATE, np.random.default_rng(seed))
    found = spans(in_noise(sound, pink=pink, seed=seed))
    assert found[0][0] == pytest.approx(1.0, abs=0.01)
    assert found[-1][1] == pytest.approx(2.0, abs=0.015)


def test_a_hiss_below_the_noises_level_stands_out_where_the_noise_is_weak() -> None:
    hiss = np.random.default_rng(2).normal(size=3200)
    spectrum = np.fft.rfft(hiss)
    spectrum[np.fft.rfftfreq(len(hiss), 1 / RATE) < 5000] = 0
    hiss = np.fft.irfft(spectrum)
    hiss *= 0.008 / np.sqrt(np.mean(hiss**2))
    samples = in_noise(hiss)
    assert np.sqrt(np.mean(hiss**2)) < np.sqrt(np.mean(samples[:RATE] ** 2))
    assert spans(samples) == [[pytest.approx(1.0, abs=0.01), pytest.approx(1.2, abs=0.01)]]


@pytest.mark.parametrize("seed", range(5))
def test_nothing_stands_out_from_noise_alone(seed: int) -> None:
    assert spans(in_noise(np.zeros(0), seed=seed)) == []


def test_inaudible_sound_does_not_count() -> None:
    sound = synthetic.voice(1.0, RATE, np.random.default_rng(1), level=-50)
    assert spans(in_noise(sound, level=-75))
    assert spans(in_noise(sound, level=-75), limit=0.05) == []


def test_digital_silence_next_to_noise_does_not_count_as_noise() -> None:
    samples = in_noise(synthetic.voice(1.0, RATE, np.random.default_rng(1)))
    samples[round(2.2 * RATE) :] = 0
    found = spans(samples)
    assert found[0][0] == pytest.approx(1.0, abs=0.01)
    assert found[-1][1] < 2.1
