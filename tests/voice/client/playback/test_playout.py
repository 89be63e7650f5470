"""Given arrival times decide what is heard when."""

import numpy as np
import pytest

from voice.client.playback.playout import Playout

RATE = 16000


def count(first: int, samples: int) -> np.ndarray:
    """Samples that are all different from silence and tell their order."""
    return (np.arange(first, first + samples) % 30000 + 1).astype(np.int16)


def tone(seconds: float, rate: int = RATE, level: int = 8000) -> np.ndarray:
    return (level * np.sin(2 * np.pi * 440 * np.arange(round(seconds * rate)) / rate)).astype(np.int16)


def first_played(playout: Playout) -> float:
    played = playout.rendered()
    return int(np.flatnonzero(played)[0]) / playout.rate


@pytest.mark.parametrize(
    ("packets", "starts"),
    [
        pytest.param([(0.005, 0.06)], 0.01, id="60 ms at once: the next block"),
        pytest.param([(0.005, 0.02), (0.025, 0.02), (0.045, 0.02)], 0.05, id="as soon as 60 ms are buffered"),
        pytest.param([(0.005, 0.02), (0.03, 0.02)], 0.07, id="60 ms after the first packet of a slow sender"),
        pytest.param([(0.01, 0.02)], 0.07, id="a burst shorter than the buffer is played too"),
        pytest.param([(0.02, 0.5)], 0.02, id="a block that begins as the audio arrives holds it"),
    ],
)
def test_playout_starts_at_60_ms_buffered_or_60_ms_after_the_first_packet(packets, starts):
    playout = Playout(100.0)
    for at, seconds in packets:
        playout.push(100.0 + at, count(0, round(seconds * RATE)), RATE)
    playout.advance(101.0)
    assert first_played(playout) == pytest.approx(starts)


@pytest.mark.parametrize("rate", [8000, 16000, 22050, 24000, 44100])
def test_all_audio_is_played_once_and_in_order_whatever_the_arrival_jitter(rate):
    for seed in range(30):
        random = np.random.default_rng(seed)
        pushed = count(0, random.integers(1, 3 * rate))
        playout = Playout(start := random.uniform(0, 1e6))
        now, at = start, 0
        while at < len(pushed):
            now += random.choice([0.0, 0.001, 0.02, 0.1, 1.2], p=[0.2, 0.3, 0.3, 0.15, 0.05])
            size = int(random.integers(1, rate // 10))
            if random.random() < 0.5:
                playout.advance(now)
            playout.push(now, pushed[at : at + size], rate)
            at += size
        playout.advance(now + 5)
        played = playout.rendered()
        assert np.array_equal(played[played != 0], pushed), f"seed {seed}"


def test_what_is_played_depends_on_arrivals_and_not_on_how_often_the_clock_is_read():
    def play(*, eager: bool) -> Playout:
        playout = Playout(5.0)
        for index in range(50):
            now = 5.0 + 0.1 + 0.037 * index
            if eager:
                for step in range(37):
                    playout.advance(now - 0.037 + step / 1000)
            playout.push(now, count(320 * index, 320), RATE)
        playout.advance(8.0)
        return playout

    eager, late = play(eager=True), play(eager=False)
    assert np.array_equal(eager.rendered(), late.rendered())
    assert eager.underruns == late.underruns != []


def test_blocks_of_10_ms_do_not_drift_at_22_05_khz():
    playout = Playout(0.0)
    playout.push(0.0, count(0, 22050 * 60), 22050)
    playout.advance(61.0)
    assert len(playout.rendered()) == 22050 * 61


@pytest.mark.parametrize(
    ("pause", "underruns"),
    [
        pytest.param(0.3, 1, id="plays on soon: the bot was meant to be talking"),
        pytest.param(0.9, 1, id="plays on within a second"),
        pytest.param(1.5, 0, id="plays on late: another utterance"),
    ],
)
def test_running_dry_is_an_underrun_when_playout_resumes_within_a_second(pause, underruns):
    playout = Playout(0.0)
    playout.push(0.005, tone(0.1), RATE)
    playout.push(0.11 + pause, tone(0.02), RATE)
    playout.advance(4.0)
    assert len(playout.underruns) == underruns


def test_an_underrun_lasts_from_the_last_sample_played_to_the_next_one():
    playout = Playout(0.0)
    playout.push(0.005, count(0, 1600), RATE)
    playout.push(0.405, count(1600, 1600), RATE)
    playout.advance(1.0)
    assert playout.underruns == [pytest.approx((0.11, 0.41))]


def test_a_gap_caused_by_an_interruption_is_not_an_underrun():
    playout = Playout(0.0)
    playout.push(0.005, tone(0.1), RATE)
    playout.advance(0.2)
    playout.flush(0.25)
    playout.push(0.3, tone(0.1), RATE)
    playout.advance(1.0)
    assert playout.underruns == []
    assert playout.flushes == [0.25]


def test_an_interruption_drops_what_no_block_has_begun_to_play():
    playout = Playout(0.0)
    playout.push(0.0, count(0, RATE), RATE)
    playout.flush(0.105)
    playout.advance(2.0)
    played = playout.rendered()
    assert np.count_nonzero(played) == 0.11 * RATE
    assert played[round(0.11 * RATE) - 1] != 0


def test_audio_after_an_interruption_waits_for_its_own_jitter_buffer():
    playout = Playout(0.0)
    playout.push(0.0, count(0, RATE), RATE)
    playout.flush(0.5)
    playout.push(0.7, count(0, 320), RATE)
    playout.advance(2.0)
    after = playout.rendered()[round(0.6 * RATE) :]
    assert np.flatnonzero(after)[0] / RATE + 0.6 == pytest.approx(0.76)


def test_a_changed_sample_rate_is_refused():
    playout = Playout(0.0)
    playout.push(0.0, tone(0.1), RATE)
    with pytest.raises(ValueError, match="from 16000 to 24000 Hz"):
        playout.push(0.1, tone(0.1), 24000)


def test_the_onset_is_the_first_audible_sample_and_not_the_first_sample():
    playout = Playout(0.0)
    leading = np.zeros(round(0.1234 * RATE), np.int16)
    playout.push(0.005, np.concatenate([leading, tone(0.5)]), RATE)
    playout.advance(2.0)
    (utterance,) = playout.utterances
    assert utterance.start == pytest.approx(0.01 + 0.1234, abs=0.0005)
    assert utterance.end == pytest.approx(0.01 + 0.6234, abs=0.002)
    assert utterance.received == pytest.approx(0.005)
    assert not utterance.cut


def test_a_click_is_not_an_utterance_and_a_short_silence_does_not_end_one():
    playout = Playout(0.0)
    click = np.concatenate([tone(0.015), np.zeros(RATE, np.int16)])
    pause = np.zeros(round(0.25 * RATE), np.int16)
    playout.push(0.0, np.concatenate([click, tone(0.2), pause, tone(0.2)]), RATE)
    playout.advance(3.0)
    (utterance,) = playout.utterances
    assert utterance.start == pytest.approx(1.015, abs=0.001)
    assert utterance.end == pytest.approx(1.665, abs=0.002)


def test_silences_of_more_than_300_ms_separate_utterances_and_each_knows_when_its_audio_arrived():
    playout = Playout(0.0)
    playout.push(0.0, np.concatenate([tone(0.2), np.zeros(round(0.5 * RATE), np.int16)]), RATE)
    playout.push(0.4, tone(0.2), RATE)
    playout.advance(2.0)
    first, second = playout.utterances
    assert (first.received, second.received) == (0.0, pytest.approx(0.4))
    assert second.start == pytest.approx(0.7, abs=0.001)


def test_a_line_of_comfort_silence_does_not_count_as_the_answers_first_packet():
    playout = Playout(0.0)
    for index in range(250):
        playout.push(0.02 * index, np.zeros(320, np.int16), RATE)
    playout.push(5.0, tone(0.3), RATE)
    playout.advance(6.0)
    (utterance,) = playout.utterances
    assert utterance.received == pytest.approx(5.0)


def test_an_interrupted_utterance_is_marked_and_the_next_one_is_not_joined_to_it():
    playout = Playout(0.0)
    playout.push(0.0, tone(2.0), RATE)
    playout.advance(0.505)
    assert playout.is_audible
    playout.flush(0.505)
    playout.push(0.51, tone(0.3), RATE)
    playout.advance(2.0)
    first, second = playout.utterances
    assert first.cut
    assert first.end == pytest.approx(0.51, abs=0.001)
    assert not second.cut
    assert not playout.is_audible


@pytest.mark.parametrize("frames", [160, 320, 57, 1000])
def test_a_sound_card_pulls_the_same_audio_that_a_simulated_one_plays(frames):
    playout = Playout(0.0, device_rate=RATE)
    pushed = count(0, 5000)
    heard = [playout.pull(frames) for _ in range(3)]
    playout.push(123.0, pushed, RATE)
    while sum(map(len, heard)) < 3 * RATE:
        heard.append(playout.pull(frames))
    heard = np.concatenate(heard)
    assert np.array_equal(heard[heard != 0], pushed)
    assert np.array_equal(playout.rendered()[: len(heard)], heard)


def test_a_sound_cards_clock_is_moved_by_pulling_only():
    playout = Playout(0.0, device_rate=RATE)
    playout.advance(1000.0)
    playout.push(2000.0, tone(0.1), RATE)
    assert playout.position == 0.0


def test_audio_at_another_rate_reaches_a_sound_card_whole_and_without_underrun():
    playout = Playout(0.0, device_rate=RATE)
    spoken = tone(1.0, rate=22050)
    for at in range(0, len(spoken), 441):
        playout.push(0.0, spoken[at : at + 441], 22050)
        playout.pull(320)
    for _ in range(100):
        playout.pull(320)
    (utterance,) = playout.utterances
    assert utterance.end - utterance.start == pytest.approx(1.0, abs=0.005)
    assert playout.underruns == []


def test_with_a_sound_cards_delay_the_bot_is_heard_later_than_its_blocks_are_pulled():
    playout = Playout(0.0, device_rate=RATE, delay=0.05)
    playout.push(0.0, tone(0.2), RATE)
    for _ in range(100):
        playout.pull(160)
    (utterance,) = playout.utterances
    assert utterance.start == pytest.approx(0.05, abs=0.001)
    assert utterance.received == 0.0
    heard = playout.rendered()
    assert np.flatnonzero(np.abs(heard) > 200)[0] / RATE == pytest.approx(0.05, abs=0.001)


def test_a_tap_hears_exactly_what_is_played():
    playout = Playout(0.0)
    tapped = []
    playout.tap = lambda pcm, rate: tapped.append((pcm, rate))
    playout.push(0.0, tone(0.3), RATE)
    playout.advance(1.0)
    assert {rate for _, rate in tapped} == {RATE}
    assert np.array_equal(np.concatenate([pcm for pcm, _ in tapped]), playout.rendered())


def test_a_playout_that_keeps_no_audio_still_knows_what_was_audible():
    playout = Playout(0.0, keep=False)
    playout.push(0.0, tone(0.3), RATE)
    playout.advance(1.0)
    assert len(playout.utterances) == 1
    with pytest.raises(ValueError, match="keeps no audio"):
        playout.rendered()


def test_before_any_audio_nothing_is_rendered_and_the_clock_still_runs():
    playout = Playout(7.0)
    playout.advance(9.0)
    assert playout.position == pytest.approx(2.0)
    assert playout.rate is None
    assert len(playout.rendered()) == 0
