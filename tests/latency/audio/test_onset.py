from typing import Any

import numpy as np
import pytest

from latency.audio.loudness import decibels
from latency.audio.onset import Span, audible_limit, estimated_speech, sounds, utterances
from latency.selftest import synthetic
from tests.latency.conversations import Conversation

RATE = 16000
NEAR = 0.010


def near(found: list[Span], expected: list[tuple[float, float]], tolerance: float = NEAR) -> bool:
    return len(found) == len(expected) and np.allclose(found, expected, rtol=0, atol=tolerance)


def bot(talk: Conversation) -> Any:
    return talk.samples[:, 1]


def user(talk: Conversation) -> Any:
    return talk.samples[:, 0]


@pytest.mark.parametrize("start", [0.5, 0.5037, 0.5099, 1.23456])
def test_an_onset_is_found_to_the_sample_after_digital_silence(start: float) -> None:
    found = utterances(bot(Conversation(3).bot(start, 2.0)), RATE)
    assert near(found, [(start, 2.0)], tolerance=0.001)


def test_a_fade_in_is_audible_from_where_it_can_be_heard() -> None:
    faded = utterances(bot(Conversation(3).bot(0.5, 2.0, fade=0.05)), RATE)
    assert near(faded, [(0.5, 2.0)])


def test_floats_and_int16_are_the_same_recording() -> None:
    samples = bot(Conversation(3).bot(0.5, 1.0).bot(1.6, 2.0))
    assert utterances(samples, RATE) == utterances(samples.astype(np.float32) / 32768, RATE)


@pytest.mark.parametrize("rate", [8000, 22050, 24000, 48000])
def test_any_sample_rate_gives_the_same_instants(rate: int) -> None:
    samples = np.zeros(3 * rate)
    samples[round(0.7 * rate) : round(1.5 * rate)] = synthetic.voice(0.8, rate, np.random.default_rng(1))
    assert near(utterances(samples, rate), [(0.7, 1.5)], tolerance=0.003)


def test_silences_below_300_ms_are_inside_an_utterance() -> None:
    assert near(utterances(bot(Conversation(4).bot(0.5, 1.0).bot(1.28, 2.0)), RATE), [(0.5, 2.0)])
    assert near(utterances(bot(Conversation(4).bot(0.5, 1.0).bot(1.32, 2.0)), RATE), [(0.5, 1.0), (1.32, 2.0)])


def test_clicks_are_not_speech_and_do_not_move_an_onset() -> None:
    talk = Conversation(3).bot(1.5, 2.0)
    talk.stereo[RATE // 2, 1] = 1.0
    talk.stereo[RATE : RATE + 320, 1] = 0.9
    assert near(utterances(bot(talk), RATE), [(1.5, 2.0)], tolerance=0.001)


def test_leading_low_level_noise_of_a_voice_is_not_audible() -> None:
    talk = Conversation(3).bot(1.0, 2.0)
    talk.stereo[round(0.7 * RATE) : RATE, 1] += np.random.default_rng(1).normal(0, 10 ** (-55 / 20), round(0.3 * RATE))
    assert near(utterances(bot(talk), RATE), [(1.0, 2.0)], tolerance=0.001)


def test_a_quiet_voice_is_heard_against_its_own_level() -> None:
    # Its frames lie near -50 dBFS: under the usual limit, but there is no other voice.
    assert near(utterances(bot(Conversation(3).bot(0.5, 2.0, level=0.006)), RATE), [(0.5, 2.0)])


def test_noise_around_minus_70_dbfs_is_silence() -> None:
    assert utterances(bot(Conversation(3).noise(1, 10 ** (-70 / 20))), RATE) == []


@pytest.mark.parametrize("samples", [np.zeros(0, np.int16), np.zeros(7, np.int16), np.zeros(RATE)])
def test_silence_of_any_length_holds_nothing(samples: Any) -> None:
    assert utterances(samples, RATE) == sounds(samples, RATE) == estimated_speech(samples, RATE) == []


def test_stereo_where_a_channel_belongs_is_refused() -> None:
    with pytest.raises(ValueError, match="one dimension"):
        utterances(Conversation(1).samples, RATE)


@pytest.mark.parametrize("noise", [0.0, 0.001, 0.01])
def test_the_end_of_unlabelled_speech_is_estimated_in_steady_noise(noise: float) -> None:
    talk = Conversation(6).user(1.0, 2.0).user(2.5, 4.0).noise(0, noise)
    assert near(estimated_speech(user(talk), RATE), [(1.0, 2.0), (2.5, 4.0)], tolerance=0.03)


def test_steady_noise_alone_holds_no_speech() -> None:
    assert estimated_speech(user(Conversation(4).noise(0, 0.05)), RATE) == []


def at(*placed: tuple[float, Any], seconds: float = 4.0) -> Any:
    """Sounds at given instants on an otherwise silent channel."""
    samples = np.zeros(round(seconds * RATE))
    for start, sound in placed:
        first = round(start * RATE)
        samples[first : first + len(sound)] += sound
    return samples


def voice(seconds: float = 1.0, **values: Any) -> Any:
    return synthetic.voice(seconds, RATE, np.random.default_rng(3), **values)


@pytest.mark.parametrize("gap", [0.12, 0.2, 0.5])
def test_a_breath_before_an_answer_is_no_onset(gap: float) -> None:
    air = synthetic.breath(0.25, RATE, np.random.default_rng(1), level=-30)
    assert sounds(at((1.0, air), (1.25 + gap, voice())), RATE)[0].start < 1.1
    assert near(utterances(at((1.0, air), (1.25 + gap, voice())), RATE), [(1.25 + gap, 2.25 + gap)])


def test_a_breath_alone_and_switched_on_noise_hold_no_speech() -> None:
    random = np.random.default_rng(1)
    assert utterances(at((1.0, synthetic.breath(0.4, RATE, random, level=-25))), RATE) == []
    assert utterances(at((1.0, synthetic.noise(2.0, RATE, random, level=-40, pink=True))), RATE) == []


def test_a_hiss_directly_before_a_voice_belongs_to_it() -> None:
    hiss = synthetic.breath(0.12, RATE, np.random.default_rng(1), level=-30)
    assert near(utterances(at((1.0, hiss), (1.12 + 0.06, voice())), RATE), [(1.0, 2.18)], tolerance=0.02)


@pytest.mark.parametrize("level", [-65.0, -55.0, -50.0, -45.0, -40.0])
def test_comfort_noise_moves_no_onset(level: float) -> None:
    steady = synthetic.noise(6.0, RATE, np.random.default_rng(2), level=level)
    found = utterances(at((1.2345, voice()), (4.0, voice()), (0.0, steady), seconds=6.0), RATE)
    assert [span.start for span in found] == [pytest.approx(1.2345, abs=NEAR), pytest.approx(4.0, abs=NEAR)]


@pytest.mark.parametrize("level", [-3.0, -15.0, -30.0])
def test_attenuation_moves_no_onset(level: float) -> None:
    loud = at((1.0, voice(level=-15)), (2.6, voice(level=-20)))
    softened = np.round(loud * decibels(level) * 32767).astype(np.int16)
    assert near(utterances(softened, RATE), [tuple(span) for span in utterances(loud, RATE)])


def test_a_loud_and_an_ordinary_voice_share_one_limit() -> None:
    levels = np.full(100, decibels(-10), np.float32)
    assert audible_limit(levels) == pytest.approx(decibels(-45))
    assert audible_limit(levels * np.float32(decibels(-30))) == pytest.approx(decibels(-68))
    assert audible_limit(levels * np.float32(decibels(-60))) == pytest.approx(decibels(-75))


@pytest.mark.parametrize(("level", "limit"), [(None, 0.011), (-40.0, 0.011), (-30.0, 0.02)])
def test_the_users_speech_is_estimated_in_quiet_and_in_noise(level: float | None, limit: float) -> None:
    samples = at((0.8, voice(1.5)), (3.2, voice(1.2)), seconds=5.5)
    if level is not None:
        samples += synthetic.noise(5.5, RATE, np.random.default_rng(4), level=level, pink=True)
    assert near(estimated_speech(samples, RATE), [(0.8, 2.3), (3.2, 4.4)], tolerance=limit)
