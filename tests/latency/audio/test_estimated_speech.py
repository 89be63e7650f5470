"""Where speech lies in an unlabelled recording."""

from pathlib import Path

import numpy as np
import pytest

from latency.audio.onset import estimated_speech
from voice.client.fixtures.fixture import load_fixtures

RATE = 16000
HUMAN = Path(__file__).resolve().parents[4] / "shared" / "audio" / "human" / "human.yaml"


def stretches_of(pcm: np.ndarray) -> list[tuple[float, float]]:
    return [tuple(span) for span in estimated_speech(pcm, RATE)]


def noise(seconds: float, decibels: float) -> np.ndarray:
    """White noise of a level in dBFS."""
    return np.random.default_rng(0).normal(0, 32768 * 10 ** (decibels / 20), round(seconds * RATE))


def spoken(*stretches: tuple[float, float], seconds: float, floor: float) -> np.ndarray:
    """Tones at -20 dBFS over noise of `floor` dBFS."""
    samples = noise(seconds, floor)
    for start, end in stretches:
        times = np.arange(round((end - start) * RATE)) / RATE
        samples[round(start * RATE) :][: len(times)] += 4634 * np.sin(2 * np.pi * 250 * times)
    return np.clip(samples, -32768, 32767).astype(np.int16)


@pytest.mark.parametrize("floor", [-90, -60, -45, -36])
@pytest.mark.parametrize(
    "stretches",
    [[(0.5, 1.5)], [(0.3, 0.9), (1.4, 2.2)], [(0.0, 1.0)], [(0.25, 0.5), (4.0, 4.4)]],
    ids=["one", "a pause", "from the start", "far apart"],
)
def test_stretches_are_found_over_noise(floor, stretches):
    found = stretches_of(spoken(*stretches, seconds=5.0, floor=floor))
    # In noise, the end of a tone is seen by a spectrum of 16 ms.
    assert [edge for stretch in found for edge in stretch] == [
        pytest.approx(edge, abs=0.016) for stretch in stretches for edge in stretch
    ]


@pytest.mark.parametrize(
    "pcm",
    [
        pytest.param(np.zeros(0, np.int16), id="nothing"),
        pytest.param(np.zeros(80000, np.int16), id="digital silence"),
        pytest.param(np.ones(100, np.int16), id="less than a tenth of a second"),
        pytest.param(noise(5.0, -25).astype(np.int16), id="even noise"),
        pytest.param(noise(5.0, -70).astype(np.int16), id="a quiet room"),
    ],
)
def test_noise_and_silence_hold_no_speech(pcm):
    assert stretches_of(pcm) == []


def test_a_click_is_no_speech():
    samples = spoken((2.0, 3.0), seconds=4.0, floor=-60)
    samples[8000:8100] = 30000
    assert stretches_of(samples) == [pytest.approx((2.0, 3.0), abs=0.011)]


def test_a_short_word_in_a_long_recording_is_found():
    found = stretches_of(spoken((40.0, 40.4), seconds=60.0, floor=-50))
    assert found == [pytest.approx((40.0, 40.4), abs=0.016)]


@pytest.mark.skipif(not HUMAN.exists(), reason="the shared recordings of human speech are not beside this repository")
def test_measured_ends_lie_close_to_the_labels_of_human_recordings():
    errors = []
    for fixture in load_fixtures([HUMAN]):
        for turn in fixture.turns:
            assert turn.wants_answer
            errors.append(abs(stretches_of(turn.samples)[-1][1] - turn.end))
    assert float(np.mean(errors)) < 0.03
    assert max(errors) < 0.12
