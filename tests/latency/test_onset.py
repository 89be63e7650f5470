from typing import Any

import numpy as np
import pytest

from latency.onset import Span, estimated_speech, first_audible_after, gaps, utterances

RATE = 16000
NEAR = 0.010


def near(found: list[Span], expected: list[tuple[float, float]], tolerance: float = NEAR) -> bool:
    return len(found) == len(expected) and np.allclose(found, expected, rtol=0, atol=tolerance)


def bot(talk: Any) -> Any:
    return talk.samples[:, 1]


def user(talk: Any) -> Any:
    return talk.samples[:, 0]


@pytest.mark.parametrize("start", [0.5, 0.5037, 0.5099, 1.23456])
def test_an_onset_is_found_to_the_sample_after_digital_silence(conversation: Any, start: float) -> None:
    found = utterances(bot(conversation(3).bot(start, 2.0)), RATE)
    assert near(found, [(start, 2.0)], tolerance=0.001)


def test_a_fade_in_is_audible_from_where_it_can_be_heard(conversation: Any) -> None:
    faded = utterances(bot(conversation(3).bot(0.5, 2.0, fade=0.05)), RATE)
    assert near(faded, [(0.5, 2.0)])


def test_floats_and_int16_are_the_same_recording(conversation: Any) -> None:
    samples = bot(conversation(3).bot(0.5, 1.0).bot(1.6, 2.0))
    assert utterances(samples, RATE) == utterances(samples.astype(np.float32) / 32768, RATE)


@pytest.mark.parametrize("rate", [8000, 22050, 24000, 48000])
def test_any_sample_rate_gives_the_same_instants(rate: int) -> None:
    samples = np.zeros(3 * rate)
    samples[round(0.7 * rate) : round(1.5 * rate)] = 0.1
    assert near(utterances(samples, rate), [(0.7, 1.5)], tolerance=0.002)


def test_silences_below_300_ms_are_inside_an_utterance(conversation: Any) -> None:
    assert near(utterances(bot(conversation(4).bot(0.5, 1.0).bot(1.28, 2.0)), RATE), [(0.5, 2.0)])
    assert near(utterances(bot(conversation(4).bot(0.5, 1.0).bot(1.32, 2.0)), RATE), [(0.5, 1.0), (1.32, 2.0)])


def test_clicks_are_not_speech_and_do_not_move_an_onset(conversation: Any) -> None:
    talk = conversation(3).bot(1.5, 2.0)
    talk.stereo[RATE // 2, 1] = 1.0
    talk.stereo[RATE : RATE + 320, 1] = 0.9
    assert near(utterances(bot(talk), RATE), [(1.5, 2.0)], tolerance=0.001)


def test_leading_low_level_noise_of_a_voice_is_not_audible(conversation: Any) -> None:
    talk = conversation(3).bot(1.0, 2.0)
    talk.stereo[round(0.7 * RATE) : RATE, 1] += np.random.default_rng(1).normal(0, 10 ** (-55 / 20), round(0.3 * RATE))
    assert near(utterances(bot(talk), RATE), [(1.0, 2.0)], tolerance=0.001)


def test_a_quiet_voice_is_heard_against_its_own_level(conversation: Any) -> None:
    # Its frames lie near -50 dBFS: under the usual limit, but it is all the voice there is.
    assert near(utterances(bot(conversation(3).bot(0.5, 2.0, level=0.006)), RATE), [(0.5, 2.0)])


def test_noise_around_minus_70_dbfs_is_silence(conversation: Any) -> None:
    assert utterances(bot(conversation(3).noise(1, 10 ** (-70 / 20))), RATE) == []


@pytest.mark.parametrize("samples", [np.zeros(0, np.int16), np.zeros(7, np.int16), np.zeros(RATE)])
def test_silence_of_any_length_holds_nothing(samples: Any) -> None:
    assert utterances(samples, RATE) == gaps(samples, RATE) == estimated_speech(samples, RATE) == []
    assert first_audible_after(samples, RATE, 0.0) is None


def test_stereo_where_a_channel_belongs_is_refused(conversation: Any) -> None:
    with pytest.raises(ValueError, match="one dimension"):
        utterances(conversation(1).samples, RATE)


def test_the_first_audible_sample_belongs_to_an_utterance_that_begins_then(conversation: Any) -> None:
    right = bot(conversation(6).bot(1.0, 2.0).bot(3.0, 4.0))
    assert first_audible_after(right, RATE, 0.2) == pytest.approx(1.0, abs=0.001)
    assert first_audible_after(right, RATE, 1.5) == pytest.approx(3.0, abs=0.001)
    assert first_audible_after(right, RATE, 4.5) is None


def test_a_hidden_hole_in_the_bots_speech_is_a_gap(conversation: Any) -> None:
    assert near(gaps(bot(conversation(4).bot(0.5, 3.0).silence_bot(1.3, 1.36)), RATE), [(1.3, 1.36)], tolerance=0.002)


def test_shorter_holes_are_no_gap(conversation: Any) -> None:
    assert gaps(bot(conversation(4).bot(0.5, 3.0).silence_bot(1.3, 1.335)), RATE) == []


def test_a_fading_pause_between_sentences_is_a_gap_only_when_the_loudspeaker_ran_dry(conversation: Any) -> None:
    right = bot(conversation(5).bot(0.5, 2.0, fade=0.03).bot(2.4, 4.0, fade=0.03))
    assert gaps(right, RATE) == []
    assert near(gaps(right, RATE, underruns=[(2.1, 2.2)]), [(2.0, 2.4)], tolerance=0.002)
    assert gaps(right, RATE, underruns=[(4.2, 4.3)]) == []


def test_an_answer_that_an_interruption_stopped_is_no_gap(conversation: Any) -> None:
    right = bot(conversation(5).bot(0.5, 2.0).bot(2.7, 4.0))
    assert near(gaps(right, RATE), [(2.0, 2.7)], tolerance=0.002)
    assert gaps(right, RATE, flushes=[1.995]) == []


def test_silence_after_the_last_word_is_no_gap(conversation: Any) -> None:
    assert gaps(bot(conversation(9).bot(0.5, 2.0).bot(6.0, 7.0)), RATE) == []


@pytest.mark.parametrize("noise", [0.0, 0.001, 0.01])
def test_the_end_of_unlabelled_speech_is_estimated_in_steady_noise(conversation: Any, noise: float) -> None:
    talk = conversation(6).user(1.0, 2.0).user(2.5, 4.0).noise(0, noise)
    assert near(estimated_speech(user(talk), RATE), [(1.0, 2.0), (2.5, 4.0)], tolerance=0.03)


def test_steady_noise_alone_holds_no_speech(conversation: Any) -> None:
    assert estimated_speech(user(conversation(4).noise(0, 0.05)), RATE) == []
