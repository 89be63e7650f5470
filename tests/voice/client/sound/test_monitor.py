"""Listening in plays both sides and never lags."""

import numpy as np
import pytest

from tests.voice.client.call.rig import tone
from tests.voice.client.sound.scripted_card import ScriptedCard
from voice.client.sound.monitor import Monitor
from voice.client.sound.pcm import RATE, Pcm
from voice.client.sound.sound_card import CARD_BLOCK


def listen(monitor_rate: int, seconds: float, blocks: int) -> tuple[Pcm, Monitor, ScriptedCard]:
    card = ScriptedCard(latency=0.0)
    monitor = Monitor(open_stream=card.open)
    monitor.open()
    pcm = np.append(tone(seconds, monitor_rate), np.zeros(monitor_rate // 20, np.int16))
    step = monitor_rate // 100
    for at in range(0, len(pcm), step):
        monitor.play(pcm[at : at + step], monitor_rate)
    heard = []
    for _ in range(blocks):
        out = bytearray(2 * CARD_BLOCK)
        card.call(memoryview(out), CARD_BLOCK, None, False)
        heard.append(np.frombuffer(bytes(out), np.int16))
    return np.concatenate(heard), monitor, card


@pytest.mark.parametrize("rate", [16000, 24000])
def test_listening_in_plays_what_was_played_at_the_cards_rate(rate: int) -> None:
    heard, monitor, card = listen(rate, 0.4, 60)
    loud = np.flatnonzero(np.abs(heard) > 1000)
    assert (loud[-1] - loud[0]) / RATE == pytest.approx(0.4, abs=0.025)
    monitor.close()
    assert not card.running


def test_listening_in_never_lags_more_than_half_a_second() -> None:
    heard, _, _ = listen(RATE, 3.0, 200)
    assert np.count_nonzero(heard) / RATE <= 0.5


def test_listening_in_waits_for_a_little_sound_before_it_starts() -> None:
    heard, _, _ = listen(RATE, 0.04, 20)
    assert not heard.any()


def test_listening_in_mixes_the_user_with_the_bot() -> None:
    card = ScriptedCard(latency=0.0)
    monitor = Monitor(open_stream=card.open)
    monitor.open()
    monitor.play(np.full(1600, 1000, np.int16), RATE)
    monitor.hear(np.full(1600, 500, np.int16))
    out = bytearray(2 * CARD_BLOCK)
    card.call(memoryview(out), CARD_BLOCK, None, False)
    assert set(np.frombuffer(bytes(out), np.int16).tolist()) == {1500}
