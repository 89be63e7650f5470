import numpy as np
import pytest

from latency.selftest import synthetic

RATE = 16000


def rms_db(sound: np.ndarray) -> float:
    return float(10 * np.log10(np.mean(sound**2)))


@pytest.mark.parametrize("rate", [8000, 16000, 48000])
def test_a_voice_has_its_level_from_its_first_sample_to_its_last(rate: int) -> None:
    sound = synthetic.voice(1.237, rate, np.random.default_rng(1), level=-26)
    assert len(sound) == round(1.237 * rate)
    assert rms_db(sound) == pytest.approx(-26, abs=1)
    edge = rate // 50
    assert min(rms_db(sound[:edge]), rms_db(sound[-edge:])) > -40


def test_the_same_seed_gives_the_same_voice_and_another_seed_another_one() -> None:
    first, again, other = (synthetic.voice(0.5, RATE, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("rate", [8000, 24000, 48000])
def test_resampling_adds_no_delay(rate: int) -> None:
    sound = np.zeros(rate)
    sound[rate // 4 : rate // 2] = synthetic.voice(0.25, rate, np.random.default_rng(1))
    found = synthetic.resampled(sound, rate, RATE)
    assert len(found) == RATE
    loud = np.flatnonzero(np.abs(found) > 0.02)
    assert loud[0] / RATE == pytest.approx(0.25, abs=0.004)
    assert loud[-1] / RATE == pytest.approx(0.5, abs=0.004)
    assert rms_db(found) == pytest.approx(rms_db(sound), abs=0.1)


def test_noise_and_music_have_the_requested_level() -> None:
    random = np.random.default_rng(1)
    for sound in (
        synthetic.noise(1, RATE, random, level=-33),
        synthetic.noise(1, RATE, random, level=-33, pink=True),
        synthetic.music(1, RATE, random, level=-33),
    ):
        assert len(sound) == RATE
        assert rms_db(sound) == pytest.approx(-33, abs=0.01)


def test_a_sentence_fades_at_its_end() -> None:
    ended = synthetic.dying(np.ones(RATE), RATE)
    assert ended[-RATE // 5 - 1] == 1
    assert ended[-1] == pytest.approx(0.01)
    assert (np.diff(ended[-RATE // 5 :]) < 0).all()


def test_fades_begin_and_end_in_silence() -> None:
    faded = synthetic.faded(np.ones(RATE), RATE, 0.1, 0.2)
    assert (faded[0], faded[-1], faded[RATE // 2]) == (0, 0, 1)
