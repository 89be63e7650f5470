"""Microphone and loudspeaker with a scripted sound card: one clock for both sides; what is said when there is none."""

import asyncio
import sys
import types

import numpy as np
import pytest

from voice.client.call.monitor import Monitor
from voice.client.playback.recorder import Recorder
from voice.client.sound import device as device_module
from voice.client.sound import sound_card
from voice.client.sound.device import DeviceLine
from voice.client.sound.pcm import FRAME, RATE
from voice.errors import ComponentError, ConfigurationError

BLOCK = sound_card.BLOCK


def tone(seconds: float, rate: int = RATE) -> np.ndarray:
    return (8000 * np.sin(2 * np.pi * 440 * np.arange(round(seconds * rate)) / rate)).astype(np.int16)


class ScriptedCard:
    """A sound card whose callbacks the test makes, from a thread as PortAudio does."""

    def __init__(self, latency: object = (0.0, 0.0)) -> None:
        self.latency = latency
        self.running = False
        self.callback = None

    def open(self, callback) -> "ScriptedCard":
        self.callback = callback
        return self

    def start(self) -> None:
        self.running = True

    def close(self) -> None:
        self.running = False

    async def exchange(self, heard: np.ndarray, *, dropout: bool = False) -> np.ndarray:
        """Let the microphone hear samples; what the loudspeaker played meanwhile."""

        def run() -> np.ndarray:
            played = []
            for at in range(0, len(heard), BLOCK):
                out = bytearray(2 * BLOCK)
                self.callback(memoryview(heard[at : at + BLOCK].tobytes()), memoryview(out), BLOCK, None, dropout)
                played.append(np.frombuffer(bytes(out), np.int16))
            return np.concatenate(played)

        return await asyncio.to_thread(run)


async def take(line: DeviceLine, count: int) -> list[np.ndarray]:
    frames = line.frames()
    taken = [await anext(frames) for _ in range(count)]
    await frames.aclose()
    return taken


async def test_what_the_microphone_hears_arrives_in_frames_bit_for_bit():
    card = ScriptedCard()
    line = DeviceLine(open_stream=card.open)
    line.open(keep=True)
    heard = np.random.default_rng(0).integers(-32768, 32767, 10 * FRAME, np.int16)
    await card.exchange(heard)
    assert np.array_equal(np.concatenate(await take(line, 10)), heard)
    assert line.pacing.summary().frames == 10
    assert line.placed == ()


async def test_the_loudspeaker_plays_the_bot_and_the_recording_holds_both_on_one_clock():
    card = ScriptedCard()
    line = DeviceLine(open_stream=card.open)
    playout = line.open(keep=True)
    recorder = Recorder(playout)
    await card.exchange(np.zeros(40 * FRAME, np.int16))
    playout.push(99.0, tone(0.5), RATE)
    speech = tone(64 * FRAME / RATE)
    played = await card.exchange(speech)
    for frame in await take(line, 104):
        recorder.inject(frame)
    stereo = recorder.stereo()
    assert np.array_equal(stereo[40 * FRAME :, 0], speech)
    assert np.array_equal(stereo[40 * FRAME :, 1], played)
    assert np.array_equal(played[: RATE // 2], tone(0.5))


async def test_the_recording_holds_the_bot_when_it_is_heard():
    card = ScriptedCard(latency=(0.02, 0.03))
    line = DeviceLine(open_stream=card.open)
    playout = line.open(keep=True)
    recorder = Recorder(playout)
    playout.push(0.0, tone(0.3), RATE)
    await card.exchange(np.zeros(RATE, np.int16))
    for frame in await take(line, RATE // FRAME):
        recorder.inject(frame)
    bot = recorder.stereo()[:, 1]
    assert np.flatnonzero(bot)[0] / RATE == pytest.approx(0.05, abs=0.001)
    assert playout.utterances[0].start == pytest.approx(0.05, abs=0.001)


async def test_the_origin_is_found_through_late_callbacks_and_a_drifting_card():
    now = [500.0]
    card = ScriptedCard(latency=(0.01, 0.01))
    line = DeviceLine(open_stream=card.open, clock=lambda: now[0])
    line.open(keep=False)
    random = np.random.default_rng(0)
    drift = 1.0002
    for index in range(3000):
        late = random.exponential(0.004)
        now[0] = 500.0 + index * BLOCK / RATE * drift + late
        card.callback(bytes(2 * BLOCK), memoryview(bytearray(2 * BLOCK)), BLOCK, None, False)
    true_origin = 500.0 - 0.01 + 2999 * BLOCK / RATE * (drift - 1)
    assert line.origin == pytest.approx(true_origin, abs=0.0015)


async def test_dropouts_are_counted():
    card = ScriptedCard()
    line = DeviceLine(open_stream=card.open)
    line.open(keep=False)
    await card.exchange(np.zeros(2 * BLOCK, np.int16), dropout=True)
    await card.exchange(np.zeros(2 * BLOCK, np.int16))
    assert line.dropouts == 2


async def test_a_card_that_goes_silent_is_reported(monkeypatch):
    monkeypatch.setattr(device_module, "STALLED", 0.05)
    line = DeviceLine(open_stream=ScriptedCard().open)
    line.open(keep=False)
    with pytest.raises(ComponentError, match=r"has delivered nothing for 0.05 s"):
        await anext(line.frames())


async def test_closing_stops_the_card_and_may_be_repeated():
    card = ScriptedCard()
    line = DeviceLine(open_stream=card.open)
    line.close()
    line.open(keep=False)
    assert card.running
    line.close()
    line.close()
    assert not card.running


def listen(monitor_rate: int, seconds: float, blocks: int) -> tuple[np.ndarray, Monitor, ScriptedCard]:
    card = ScriptedCard(latency=0.0)
    monitor = Monitor(open_stream=card.open)
    monitor.open()
    pcm = np.append(tone(seconds, monitor_rate), np.zeros(monitor_rate // 20, np.int16))
    step = monitor_rate // 100
    for at in range(0, len(pcm), step):
        monitor.play(pcm[at : at + step], monitor_rate)
    heard = []
    for _ in range(blocks):
        out = bytearray(2 * BLOCK)
        card.callback(memoryview(out), BLOCK, None, False)
        heard.append(np.frombuffer(bytes(out), np.int16))
    return np.concatenate(heard), monitor, card


@pytest.mark.parametrize("rate", [16000, 24000])
def test_listening_in_plays_what_was_played_at_the_cards_rate(rate):
    heard, monitor, card = listen(rate, 0.4, 60)
    loud = np.flatnonzero(np.abs(heard) > 1000)
    assert (loud[-1] - loud[0]) / RATE == pytest.approx(0.4, abs=0.025)
    monitor.close()
    assert not card.running


def test_listening_in_never_lags_more_than_half_a_second():
    heard, _, _ = listen(RATE, 3.0, 200)
    assert np.count_nonzero(heard) / RATE <= 0.5


def test_listening_in_waits_for_a_little_sound_before_it_starts():
    heard, _, _ = listen(RATE, 0.04, 20)
    assert not heard.any()


def test_listening_in_mixes_the_user_with_the_bot():
    card = ScriptedCard(latency=0.0)
    monitor = Monitor(open_stream=card.open)
    monitor.open()
    monitor.play(np.full(1600, 1000, np.int16), RATE)
    monitor.hear(np.full(1600, 500, np.int16))
    out = bytearray(2 * BLOCK)
    card.callback(memoryview(out), BLOCK, None, False)
    assert set(np.frombuffer(bytes(out), np.int16).tolist()) == {1500}


def test_without_portaudio_the_package_to_install_is_named(monkeypatch, tmp_path):
    (tmp_path / "sounddevice.py").write_text("raise OSError('PortAudio library not found')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "sounddevice", raising=False)
    for attempt in (sound_card.list_devices, lambda: sound_card.open_duplex(lambda *_: None)):
        with pytest.raises(ComponentError, match=r"apt install libportaudio2, or brew install portaudio") as refused:
            attempt()
        assert refused.value.exit_code == 4


def test_without_sounddevice_the_package_to_install_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sounddevice", None)
    with pytest.raises(ComponentError, match="pip install sounddevice"):
        sound_card.list_devices()


class PortAudioError(Exception):
    """As sounddevice's."""


@pytest.fixture
def scripted_sounddevice(monkeypatch):
    """A sounddevice that knows two devices and opens what it is told to."""
    module = types.ModuleType("sounddevice")
    module.PortAudioError = PortAudioError
    module.default = types.SimpleNamespace(device=[1, 0])
    module.query_devices = lambda: [
        {"name": "Speakers", "max_input_channels": 0, "max_output_channels": 2},
        {"name": "Headset", "max_input_channels": 1, "max_output_channels": 2},
    ]
    module.opened = []
    module.fails = None

    def open_stream(**how):
        if module.fails:
            raise module.fails
        module.opened.append(how)
        return ScriptedCard()

    module.RawStream = module.RawOutputStream = open_stream
    monkeypatch.setitem(sys.modules, "sounddevice", module)
    return module


def test_the_devices_are_listed_with_their_use(scripted_sounddevice):
    speakers, headset = sound_card.list_devices()
    assert (speakers.name, speakers.inputs, speakers.outputs) == ("Speakers", 0, 2)
    assert (speakers.is_default_input, speakers.is_default_output) == (False, True)
    assert (headset.is_default_input, headset.is_default_output) == (True, False)
    assert [str(speakers), str(headset)] == ["0 Speakers: 2 out (default)", "1 Headset: 1 in (default), 2 out"]


def test_devices_are_chosen_by_index_or_name_and_opened_as_one_stream(scripted_sounddevice):
    sound_card.open_duplex(lambda *_: None, input="1", output="Speak")
    sound_card.open_output(lambda *_: None)
    duplex, output = scripted_sounddevice.opened
    assert duplex["device"] == (1, "Speak")
    assert output["device"] is None
    for how in (duplex, output):
        assert (how["samplerate"], how["channels"], how["dtype"]) == (RATE, 1, "int16")


def test_a_device_that_is_not_there_is_told_with_those_that_are(scripted_sounddevice):
    scripted_sounddevice.fails = ValueError("No input device matching 'nope'")
    with pytest.raises(ConfigurationError, match=r"'nope'; the sound devices here are: 0 Speakers, 1 Headset"):
        sound_card.open_duplex(lambda *_: None, input="nope")


def test_a_machine_without_a_usable_device_is_told_what_to_do(scripted_sounddevice):
    scripted_sounddevice.fails = PortAudioError("Error querying device -1")
    with pytest.raises(ComponentError, match=r"Error querying device -1.*replay a recording"):
        sound_card.open_duplex(lambda *_: None)


def test_importing_the_client_opens_no_device_and_loads_no_sound_library():
    import subprocess

    code = (
        "import sys, voice.client.sound.device, voice.client.call.monitor, voice.client.sound.sound_card;"
        "sys.exit('sounddevice' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
