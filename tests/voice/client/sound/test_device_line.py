"""Microphone and loudspeaker share one clock, tried with a scripted sound card."""

import numpy as np
import pytest

from tests.voice.client.call.rig import tone
from tests.voice.client.sound.scripted_card import ScriptedCard
from voice.client.playback.recorder import Recorder
from voice.client.sound import device_line
from voice.client.sound.device_line import DeviceLine
from voice.client.sound.pcm import MESSAGE_SAMPLES, RATE, Pcm
from voice.client.sound.sound_card import CARD_BLOCK
from voice.errors import ComponentError


async def take(line: DeviceLine, count: int) -> list[Pcm]:
    frames = line.frames()
    taken = [await anext(frames) for _ in range(count)]
    await frames.aclose()
    return taken


async def test_what_the_microphone_hears_arrives_in_frames_bit_for_bit() -> None:
    card = ScriptedCard()
    line = DeviceLine(open_stream=card.open)
    line.open(keep=True)
    heard = np.random.default_rng(0).integers(-32768, 32767, 10 * MESSAGE_SAMPLES, np.int16)
    await card.exchange(heard)
    assert np.array_equal(np.concatenate(await take(line, 10)), heard)
    assert line.pacing.summary().frames == 10
    assert line.placed == ()


async def test_the_loudspeaker_plays_the_bot_and_the_recording_holds_both_on_one_clock() -> None:
    card = ScriptedCard()
    line = DeviceLine(open_stream=card.open)
    playout = line.open(keep=True)
    recorder = Recorder(playout)
    await card.exchange(np.zeros(40 * MESSAGE_SAMPLES, np.int16))
    playout.push(99.0, tone(0.5), RATE)
    speech = tone(64 * MESSAGE_SAMPLES / RATE)
    played = await card.exchange(speech)
    for frame in await take(line, 104):
        recorder.inject(frame)
    stereo = recorder.stereo()
    assert np.array_equal(stereo[40 * MESSAGE_SAMPLES :, 0], speech)
    assert np.array_equal(stereo[40 * MESSAGE_SAMPLES :, 1], played)
    assert np.array_equal(played[: RATE // 2], tone(0.5))


async def test_the_recording_holds_the_bot_when_it_is_heard() -> None:
    card = ScriptedCard(latency=(0.02, 0.03))
    line = DeviceLine(open_stream=card.open)
    playout = line.open(keep=True)
    recorder = Recorder(playout)
    playout.push(0.0, tone(0.3), RATE)
    await card.exchange(np.zeros(RATE, np.int16))
    for frame in await take(line, RATE // MESSAGE_SAMPLES):
        recorder.inject(frame)
    bot = recorder.stereo()[:, 1]
    assert np.flatnonzero(bot)[0] / RATE == pytest.approx(0.05, abs=0.001)
    assert playout.utterances[0].start == pytest.approx(0.05, abs=0.001)


async def test_the_origin_is_found_through_late_callbacks_and_a_drifting_card() -> None:
    now = [500.0]
    card = ScriptedCard(latency=(0.01, 0.01))
    line = DeviceLine(open_stream=card.open, clock=lambda: now[0])
    line.open(keep=False)
    random = np.random.default_rng(0)
    drift = 1.0002
    for index in range(3000):
        late = random.exponential(0.004)
        now[0] = 500.0 + index * CARD_BLOCK / RATE * drift + late
        card.call(bytes(2 * CARD_BLOCK), memoryview(bytearray(2 * CARD_BLOCK)), CARD_BLOCK, None, False)
    true_origin = 500.0 - 0.01 + 2999 * CARD_BLOCK / RATE * (drift - 1)
    assert line.origin == pytest.approx(true_origin, abs=0.0015)


async def test_dropouts_are_counted() -> None:
    card = ScriptedCard()
    line = DeviceLine(open_stream=card.open)
    line.open(keep=False)
    await card.exchange(np.zeros(2 * CARD_BLOCK, np.int16), dropout=True)
    await card.exchange(np.zeros(2 * CARD_BLOCK, np.int16))
    assert line.dropouts == 2


async def test_a_card_that_goes_silent_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_line, "STALLED", 0.05)
    line = DeviceLine(open_stream=ScriptedCard().open)
    line.open(keep=False)
    with pytest.raises(ComponentError, match=r"has delivered nothing for 0.05 s"):
        await anext(line.frames())


async def test_closing_stops_the_card_and_may_be_repeated() -> None:
    card = ScriptedCard()
    line = DeviceLine(open_stream=card.open)
    line.close()
    line.open(keep=False)
    assert card.running
    line.close()
    line.close()
    assert not card.running
