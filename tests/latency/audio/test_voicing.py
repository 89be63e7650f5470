import numpy as np
import pytest

from latency.audio import loudness as frames
from latency.audio import voicing
from latency.selftest import synthetic

RATE = 16000


def strength(sound: np.ndarray, rate: int = RATE) -> np.ndarray:
    samples = sound.astype(np.float32)
    return voicing.periodicity(samples, rate, np.arange(5, len(samples) * 100 // rate - 5))


def voiced(sound: np.ndarray) -> bool:
    samples = sound.astype(np.float32)
    levels = frames.levels(samples, RATE)
    return bool(voicing.is_voice(samples, RATE, levels, np.array([[0, len(samples)]]))[0])


@pytest.mark.parametrize("pitch", [80, 120, 220, 330])
@pytest.mark.parametrize("rate", [8000, 16000, 48000])
def test_a_voice_of_any_pitch_repeats_itself(pitch: float, rate: int) -> None:
    sound = synthetic.voice(1.0, rate, np.random.default_rng(1), pitch=pitch)
    assert np.median(strength(sound, rate)) > 0.8


def test_noise_does_not_whatever_its_colour() -> None:
    random = np.random.default_rng(1)
    sounds = [synthetic.noise(1.0, RATE, random, level=-20, pink=pink) for pink in (False, True)]
    sounds.append(synthetic.breath(1.0, RATE, random, level=-20))
    assert max(np.percentile(strength(sound), 95) for sound in sounds) < voicing.VOICED


@pytest.mark.parametrize("level", [-20, -60])
def test_a_voice_is_one_at_any_level_and_in_noise(level: float) -> None:
    random = np.random.default_rng(2)
    sound = synthetic.voice(0.6, RATE, random, level=level)
    assert voiced(sound)
    assert voiced(sound + synthetic.noise(0.6, RATE, random, level=level - 10, pink=True))


def test_a_breath_a_hum_of_the_mains_and_a_constant_are_no_voice() -> None:
    time = np.arange(RATE) / RATE
    assert not voiced(synthetic.breath(0.3, RATE, np.random.default_rng(3), level=-20))
    assert not voiced(0.1 * np.sin(2 * np.pi * 40 * time))
    assert not voiced(np.full(RATE, 0.1))


def test_no_sounds_are_no_voices_and_less_than_a_frame_has_no_period() -> None:
    samples = np.zeros(100, np.float32)
    assert voicing.is_voice(samples, RATE, np.zeros(0, np.float32), np.empty((0, 2), np.intp)).tolist() == []
    assert voicing.periodicity(samples, RATE, np.array([0])).tolist() == [0.0]


def test_a_phrase_whose_loudest_frames_are_a_hiss_is_a_voice() -> None:
    random = np.random.default_rng(4)
    sound = synthetic.voice(1.2, RATE, random, level=-26)
    hiss = synthetic.noise(0.12, RATE, random, level=-12)
    sound[: len(hiss)] += hiss
    assert voiced(sound)


@pytest.mark.parametrize("seed", range(5))
def test_a_long_hiss_is_no_voice(seed: int) -> None:
    assert not voiced(synthetic.noise(10.0, RATE, np.random.default_rng(seed), level=-20, pink=True))
