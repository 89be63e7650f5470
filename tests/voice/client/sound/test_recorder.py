"""The recorder on a scripted card."""

import threading

import numpy as np
import pytest

from tests.voice.client.sound.scripted_card import ScriptedCard
from voice.client.sound.recorder import Recorder
from voice.client.sound.sound_card import CARD_BLOCK
from voice.errors import ComponentError


async def test_what_is_heard_between_start_and_stop_is_recorded() -> None:
    card = ScriptedCard()
    recorder = Recorder(open_stream=card.open)
    await card.exchange(np.full(CARD_BLOCK, 1, np.int16))
    recorder.start()
    await card.exchange(np.full(3 * CARD_BLOCK, 2, np.int16), dropout=True)
    assert recorder.stop().tolist() == [2] * (3 * CARD_BLOCK)
    assert recorder.dropouts == 3
    recorder.close()
    assert not card.running


async def test_a_recording_is_played_to_its_end() -> None:
    card = ScriptedCard()
    recorder = Recorder(open_stream=card.open)
    samples = np.arange(CARD_BLOCK + 10, dtype=np.int16)
    playing = threading.Thread(target=recorder.play, args=(samples,))
    playing.start()
    while not recorder._to_play:
        pass
    played = await card.exchange(np.zeros(2 * CARD_BLOCK, np.int16))
    playing.join(5)
    assert not playing.is_alive()
    assert played.tolist() == [*samples.tolist(), *[0] * (CARD_BLOCK - 10)]


def test_a_card_without_sound_is_named() -> None:
    recorder = Recorder(open_stream=ScriptedCard().open)
    recorder.start()
    with pytest.raises(ComponentError, match="gives no sound"):
        recorder.stop()
