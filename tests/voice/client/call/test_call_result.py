"""Both sides of a recording lie on one sample clock."""

import numpy as np
import pytest

from voice.client.call.call_result import Recorder
from voice.client.playback.playout import Playout

RATE = 16000


def tone(seconds: float, rate: int) -> np.ndarray:
    return (8000 * np.sin(2 * np.pi * 440 * np.arange(round(seconds * rate)) / rate)).astype(np.int16)


def onset(channel: np.ndarray) -> float:
    return int(np.flatnonzero(np.abs(channel.astype(int)) > 400)[0]) / RATE


@pytest.mark.parametrize("rate", [16000, 22050, 24000, 48000])
def test_the_bots_side_is_resampled_onto_the_users_clock(rate):
    playout = Playout(50.0)
    recorder = Recorder(playout)
    for index in range(250):
        recorder.inject(np.full(320, 1000 if index == 100 else 0, np.int16))
    playout.push(53.0, tone(1.0, rate), rate)
    playout.advance(55.0)
    stereo = recorder.stereo()
    assert stereo.shape == (5 * RATE, 2)
    assert stereo.dtype == np.int16
    assert onset(stereo[:, 0]) == 2.0
    assert onset(stereo[:, 1]) == pytest.approx(3.0, abs=0.001)


def test_the_users_side_is_recorded_bit_for_bit():
    recorder = Recorder(Playout(0.0))
    frames = np.random.default_rng(1).integers(-32768, 32767, (50, 320), np.int16)
    for frame in frames:
        recorder.inject(frame)
    assert np.array_equal(recorder.stereo()[:, 0], frames.ravel())
    assert recorder.seconds == 1.0


def test_digital_silence_stays_silent_through_resampling():
    playout = Playout(0.0)
    recorder = Recorder(playout)
    recorder.inject(np.zeros(2 * RATE, np.int16))
    playout.push(0.0, np.zeros(24000, np.int16), 24000)
    playout.advance(2.0)
    assert not recorder.stereo().any()


def test_a_silent_bot_and_one_that_talks_past_the_end_give_recordings_as_long_as_the_user():
    playout = Playout(0.0)
    recorder = Recorder(playout)
    recorder.inject(np.zeros(RATE, np.int16))
    assert recorder.stereo().shape == (RATE, 2)
    playout.push(0.0, tone(5.0, RATE), RATE)
    playout.advance(5.0)
    assert recorder.stereo().shape == (RATE, 2)


def test_without_recording_only_the_length_is_known():
    recorder = Recorder(Playout(0.0), keep=False)
    recorder.inject(np.zeros(320, np.int16))
    assert recorder.seconds == 0.02
    with pytest.raises(ValueError, match="not recorded"):
        recorder.stereo()
