"""An offset that nobody hears moves no onset and no end; what has none is measured as it is."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import soundfile

from latency.audio.onset import estimated_speech, utterances, without_offset

RATE = 16000
FLOATS = npt.NDArray[np.float32]
SAMPLES = sorted((Path(__file__).parents[3] / "samples").glob("*/*.wav"))
CLEAN = [path for path in SAMPLES if path.parent.name in ("commands", "units", "tour")]


def read(path: Path) -> FLOATS:
    samples, _ = soundfile.read(path, dtype="float32")
    return np.asarray(samples)


def quantised(samples: npt.NDArray[np.floating]) -> FLOATS:
    return np.asarray(np.rint(samples * 32768).clip(-32768, 32767) / 32768, np.float32)


def furthest(found: list[tuple[float, float]], wanted: list[tuple[float, float]]) -> float:
    assert len(found) == len(wanted) > 0
    return float(np.abs(np.subtract(found, wanted)).max())


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_samples_have_none_and_stay_as_they_are(path: Path) -> None:
    samples = read(path)
    assert without_offset(samples, RATE) is samples


@pytest.mark.parametrize("measure", [estimated_speech, utterances])
@pytest.mark.parametrize("offset", [0.02, 0.2, -0.4])
def test_a_constant_one_moves_nothing(measure: Callable[..., list[tuple[float, float]]], offset: float) -> None:
    moved = []
    for path in CLEAN:
        clean = read(path) * 0.5
        moved.append(furthest(measure(quantised(clean + offset), RATE), measure(quantised(clean), RATE)))
    assert np.mean(np.array(moved) <= 0.001) >= 0.9
    assert max(moved) <= 0.04


@pytest.mark.parametrize("path", CLEAN, ids=lambda path: f"{path.parent.name}-{path.stem}")
@pytest.mark.parametrize("kind", ["line", "wave"])
def test_one_that_drifts(path: Path, kind: str) -> None:
    clean = read(path) * 0.5
    times = np.arange(len(clean)) / RATE
    drift = 0.3 * times / times[-1] if kind == "line" else 0.2 * np.sin(2 * np.pi * 0.2 * times)
    assert furthest(estimated_speech(quantised(clean + drift), RATE), estimated_speech(clean, RATE)) <= 0.04


TIMES = np.arange(int(4.5 * RATE)) / RATE
WANDERING = {
    "step after the end": np.where(TIMES > 2.8, 0.01, 0.0),
    "step beside the end": np.where(TIMES > 2.75, 0.03, 0.0),
    "step in the speech": np.where(TIMES > 2.0, -0.1, 0.0),
    "2 Hz": 0.03 * np.sin(2 * np.pi * 2 * TIMES + 0.7),
    "strong 1 Hz": 0.3 * np.sin(2 * np.pi * TIMES),
    "decay": 0.1 * np.exp(-TIMES / 0.3),
    "two steps": np.where((TIMES > 0.4) & (TIMES < 3.3), 0.05, 0.0),
}


@pytest.mark.parametrize("noise", [0.0, 1e-4, 3e-4, 1e-3])
@pytest.mark.parametrize("offset", WANDERING.values(), ids=WANDERING)
def test_one_that_wanders(offset: FLOATS, noise: float) -> None:
    clean = np.zeros(len(TIMES))
    speech = read(SAMPLES[0].parents[1] / "tour" / "01.wav") * 0.3
    clean[RATE : RATE + len(speech)] = speech
    clean += np.random.default_rng(2).normal(0, noise, len(clean)) if noise else 0.0
    found = estimated_speech(quantised(clean + offset), RATE)
    assert furthest(found, estimated_speech(quantised(clean), RATE)) <= 0.03


def test_it_hides_no_speech() -> None:
    clean = read(CLEAN[0]) * 0.3
    assert furthest(utterances(quantised(clean + 0.6), RATE), utterances(quantised(clean), RATE)) <= 0.001


def test_rumble_and_noise_are_none() -> None:
    noise = np.random.default_rng(0).normal(0, 0.01, 5 * RATE)
    rumble = 0.05 * np.sin(2 * np.pi * 25 * np.arange(5 * RATE) / RATE)
    for samples in (noise, rumble, noise + rumble, np.zeros(5 * RATE)):
        floats = samples.astype(np.float32)
        assert without_offset(floats, RATE) is floats


@pytest.mark.parametrize("count", [0, 1, 159, 160, 800, 1600, 3000])
def test_short_ones(count: int) -> None:
    assert np.abs(without_offset(np.full(count, 0.2, np.float32), RATE)).max(initial=0.0) in (
        pytest.approx(0.0, abs=1e-6),
        pytest.approx(0.2),
    )
