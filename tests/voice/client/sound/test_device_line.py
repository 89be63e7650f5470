"""Microphone and loudspeaker share one clock, tried with a scripted sound card."""

import asyncio
import threading
import time

import numpy as np
import pytest

from tests.voice.client.call.rig import tone
from tests.voice.client.sound.scripted_card import ScriptedCard
from voice.client.call.call_result import Recorder
from voice.client.sound import device_line
from voice.client.sound.device_line import DeviceLine
from voice.client.sound.pcm import MESSAGE_SAMPLES, RATE, Pcm
from voice.client.sound.sound_card import CARD_BLOCK, DuplexCallback, SoundStream
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


class Cards:
    """Sound cards, one after the other, of which each can be unplugged; None is a moment without any."""

    def __init__(self, *cards: ScriptedCard | None) -> None:
        self.cards = iter(cards)
        self.tried = 0

    def open(self, callback: DuplexCallback) -> SoundStream:
        self.tried += 1
        card = next(self.cards, None)
        if card is None:
            raise ComponentError("there is no card")
        return card.open(callback)


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_line, "GONE", 0.1)
    monkeypatch.setattr(device_line, "REOPEN_EVERY", 0.05)


@pytest.mark.usefixtures("hurried")
async def test_a_call_goes_on_in_silence_without_its_card_and_hears_again_once_it_is_back() -> None:
    first, second = ScriptedCard(), ScriptedCard()
    line = DeviceLine(open_stream=first.open, reopen_stream=(cards := Cards(None, None, second)).open)
    told: list[str] = []
    back = asyncio.Event()
    line.on_away = lambda: told.append("away")
    line.on_back = lambda seconds: (told.append("back"), back.set())
    playout = line.open(keep=True)
    recorder = Recorder(playout)
    await first.exchange(tone(0.32))
    origin = line.origin
    async with asyncio.timeout(20):
        await back.wait()
    # The second one takes its time to start.
    await asyncio.sleep(0.05)
    await second.exchange(np.zeros(2 * CARD_BLOCK, np.int16))
    assert line.origin == pytest.approx(origin, abs=0.03)
    assert line._samples / RATE == pytest.approx(time.monotonic() - origin, abs=0.04)
    assert told == ["away", "back"]
    assert cards.tried == 3
    assert not first.running
    assert second.running
    await second.exchange(tone(0.32))
    # What the first one still says is nobody's.
    await first.exchange(tone(0.32))
    frames = await take(line, line._captured.qsize())
    heard = np.concatenate(frames)
    for frame in frames:
        recorder.inject(frame)
    ((start, end),) = line.away
    assert start == pytest.approx(0.32, abs=0.2)
    assert np.array_equal(heard[: round(0.32 * RATE)], tone(0.32))
    silent, again = np.split(heard[round(0.32 * RATE) :], [np.flatnonzero(heard[round(0.32 * RATE) :])[0] - 1])
    assert len(silent) / RATE == pytest.approx(end - start, abs=0.25)
    assert np.array_equal(again, tone(0.32)[: len(again)])
    assert len(again) >= 0.3 * RATE
    assert len(heard) / RATE == pytest.approx(end + 0.32, abs=0.3), "silence has kept the time"
    assert len(recorder.stereo()) == len(heard), "and the loudspeaker's side is as long"
    line.close()


@pytest.mark.usefixtures("hurried")
async def test_a_card_that_stays_away_ends_the_call_with_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_line, "AWAY_AT_MOST", 0.3)
    monkeypatch.setattr(device_line, "STALLED", 0.3)
    card = ScriptedCard()
    line = DeviceLine(open_stream=card.open, reopen_stream=Cards().open)
    line.open(keep=False)
    await card.exchange(tone(0.16))
    with pytest.raises(ComponentError, match=r"has been away for 0.3 s; connect it, and call again"):
        await asyncio.wait_for(take(line, 1000), 20)
    line.close()


@pytest.mark.usefixtures("hurried")
async def test_a_call_that_ends_without_its_card_leaves_nothing_open() -> None:
    first, second = ScriptedCard(), ScriptedCard()
    opening, go = threading.Event(), threading.Event()

    def open_slowly(callback: DuplexCallback) -> SoundStream:
        opening.set()
        go.wait(10)
        second.running = True
        return second.open(callback)

    line = DeviceLine(open_stream=first.open, reopen_stream=open_slowly)
    line.open(keep=False)
    await first.exchange(tone(0.16))
    assert await asyncio.to_thread(opening.wait, 10)
    line.close()
    await asyncio.sleep(0)
    go.set()
    async with asyncio.timeout(10):
        while second.callback is None or second.running:
            await asyncio.sleep(0.01)
