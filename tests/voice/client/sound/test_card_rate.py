"""A card at another rate hears and plays what a card at 16 kHz would."""

from typing import Any

import numpy as np
import pytest

from tests.voice.client.call.rig import tone
from voice.client.sound.card_rate import CardRate
from voice.client.sound.pcm import RATE, resample
from voice.client.sound.sound_card import CARD_BLOCK


def run(card_rate: int, heard: Any, played: Any) -> tuple[Any, Any, list[Any]]:
    """What the call hears of the card, what the card plays of the call, and the statuses that it was told."""
    got: list[Any] = []
    statuses: list[Any] = []
    given = iter(played.reshape(-1, CARD_BLOCK))

    def callback(indata: Any, outdata: Any, frames: int, _times: Any, status: Any) -> None:
        assert frames == CARD_BLOCK
        got.append(np.frombuffer(bytes(indata), np.int16))
        outdata[:] = next(given).tobytes()
        statuses.append(status)

    exchange = CardRate(callback, card_rate)
    out = []
    # Blocks that do not match those of the call.
    size = card_rate // 100
    for at in range(0, len(heard), size):
        block = heard[at : at + size]
        buffer = bytearray(2 * len(block))
        exchange(block.tobytes(), memoryview(buffer), len(block), None, at == 2 * size)
        out.append(np.frombuffer(bytes(buffer), np.int16))
    return np.concatenate(got), np.concatenate(out), statuses


def lag(heard: Any, said: Any) -> int:
    """Samples by which one signal is later than another."""
    correlation = np.correlate(heard.astype(float), said.astype(float), "full")
    return int(np.argmax(correlation)) - (len(said) - 1)


@pytest.mark.parametrize("card_rate", [44100, 48000, 96000, 8000])
def test_both_directions_are_resampled_without_a_gap_and_as_late_as_said(card_rate: int) -> None:
    speech = np.concatenate([np.zeros(RATE // 4, np.int16), tone(0.3), np.zeros(RATE, np.int16)])
    speech = speech[: len(speech) // CARD_BLOCK * CARD_BLOCK]
    heard, played, statuses = run(card_rate, resample(speech, RATE, card_rate)[: card_rate * 3 // 2], speech)
    exchange = CardRate(lambda *_: None, card_rate)
    assert lag(heard, speech[: len(heard)]) == 0, "samples keep their places; they only come later"
    assert abs(np.abs(heard.astype(int)).max() - np.abs(speech.astype(int)).max()) < 600
    late = lag(resample(played, card_rate, RATE), speech) / RATE
    assert late == pytest.approx(sum(exchange.latency), abs=0.002)
    loud = np.flatnonzero(np.abs(played.astype(int)) > 1000)
    assert np.diff(loud).max() < card_rate * 0.01, "no hole in what is played"
    assert sum(bool(status) for status in statuses) == 1
