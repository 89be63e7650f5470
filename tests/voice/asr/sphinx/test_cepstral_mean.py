import numpy as np
import pytest

from voice.asr.sphinx.cepstral_mean import DECODER_FRAMES, START, START_FRAMES, CepstralMean


def numbers(mean: str) -> list[float]:
    return [float(value) for value in mean.split(",")]


def learnt(given: str, frames: np.ndarray) -> str:
    """What PocketSphinx makes of frames after it was given a mean: it counts that as 500 frames."""
    total = DECODER_FRAMES * np.array(numbers(given)) + frames.sum(axis=0)
    return ",".join(f"{value:g}" for value in total / (DECODER_FRAMES + len(frames))) + ","


def test_the_estimate_begins_with_the_start() -> None:
    assert numbers(CepstralMean().estimate()) == pytest.approx(START)


def test_the_estimate_is_the_mean_of_all_frames_and_a_little_of_the_start() -> None:
    rng = np.random.default_rng(5)
    frames = rng.normal(20, 10, (130, 13))
    mean = CepstralMean()
    for part in (frames[:60], frames[60:80], frames[80:]):
        given = mean.estimate()
        mean.take_in(given=given, learnt=learnt(given, part), frames=len(part))
    expected = (START_FRAMES * np.array(START) + frames.sum(axis=0)) / (START_FRAMES + 130)
    assert mean.frames == 130
    np.testing.assert_allclose(numbers(mean.estimate()), expected, atol=0.05)


def test_half_a_second_of_speech_counts_as_much_as_the_start() -> None:
    mean = CepstralMean()
    given = mean.estimate()
    voice = np.full((START_FRAMES, 13), 30.0)
    mean.take_in(given=given, learnt=learnt(given, voice), frames=START_FRAMES)
    np.testing.assert_allclose(numbers(mean.estimate()), (np.array(START) + 30) / 2, atol=0.05)


def test_the_estimate_settles_after_as_much_speech_as_the_decoder_remembers() -> None:
    mean = CepstralMean()
    for _ in range(5):
        assert not mean.is_settled
        given = mean.estimate()
        mean.take_in(given=given, learnt=learnt(given, np.zeros((100, 13))), frames=100)
    assert mean.is_settled


def test_after_a_very_long_stretch_the_decoders_own_mean_is_taken() -> None:
    mean = CepstralMean()
    mean.take_in(given=mean.estimate(), learnt=",".join(["7"] * 13), frames=1000)
    assert mean.is_settled
    assert numbers(mean.estimate()) == pytest.approx([7] * 13)
