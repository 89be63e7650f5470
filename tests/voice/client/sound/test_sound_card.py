"""Sound devices are listed, chosen and opened, and what is missing is named."""

import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.voice.client.call.rig import tone
from tests.voice.client.sound.scripted_card import ScriptedCard
from voice.client.sound import sound_card
from voice.client.sound.pcm import RATE, resample
from voice.client.sound.sound_card import CARD_BLOCK, CardRate
from voice.errors import ComponentError, ConfigurationError


def test_without_portaudio_the_package_to_install_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "sounddevice.py").write_text("raise OSError('PortAudio library not found')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "sounddevice", raising=False)
    for attempt in (sound_card.list_devices, lambda: sound_card.open_duplex(lambda *_: None)):
        with pytest.raises(ComponentError, match=r"apt install libportaudio2, or brew install portaudio") as refused:
            attempt()
        assert refused.value.exit_code == 4


def test_without_sounddevice_the_package_to_install_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sounddevice", None)
    with pytest.raises(ComponentError, match="pip install sounddevice"):
        sound_card.list_devices()


class PortAudioError(Exception):
    """As sounddevice's."""


@pytest.fixture
def scripted_sounddevice(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A sounddevice that knows two devices and opens any of them."""
    module: Any = types.ModuleType("sounddevice")
    module.PortAudioError = PortAudioError
    module.default = types.SimpleNamespace(device=[1, 0])
    devices = [
        {"name": "Speakers", "max_input_channels": 0, "max_output_channels": 2, "default_samplerate": 44100.0},
        {"name": "Headset", "max_input_channels": 1, "max_output_channels": 2, "default_samplerate": 96000.0},
    ]
    module.query_devices = lambda device=None, kind=None: devices if kind is None else devices[device or 0]
    module.opened = []
    module.started = []
    module._initialize = lambda: module.started.append("initialized")
    module._terminate = lambda: module.started.append("terminated")
    module.fails = None
    module.rates = None

    def open_stream(**how: object) -> ScriptedCard:
        if module.fails:
            raise module.fails
        if module.rates and how["samplerate"] not in module.rates:
            raise PortAudioError("Invalid sample rate", -9997)
        module.opened.append(how)
        return ScriptedCard()

    module.RawStream = module.RawOutputStream = open_stream
    monkeypatch.setitem(sys.modules, "sounddevice", module)
    return module


def test_the_devices_are_listed_with_their_use(scripted_sounddevice: Any) -> None:
    speakers, headset = sound_card.list_devices()
    assert (speakers.name, speakers.inputs, speakers.outputs) == ("Speakers", 0, 2)
    assert (speakers.is_default_input, speakers.is_default_output) == (False, True)
    assert (headset.is_default_input, headset.is_default_output) == (True, False)
    assert [str(speakers), str(headset)] == ["0 Speakers: 2 out (default)", "1 Headset: 1 in (default), 2 out"]


def test_devices_are_chosen_by_index_or_name_and_opened_as_one_stream(scripted_sounddevice: Any) -> None:
    sound_card.open_duplex(lambda *_: None, input="1", output="Speak")
    sound_card.open_output(lambda *_: None)
    duplex, output = scripted_sounddevice.opened
    assert duplex["device"] == (1, 0)
    assert output["device"] is None
    for how in (duplex, output):
        assert (how["samplerate"], how["channels"], how["dtype"]) == (RATE, 1, "int16")


def device(index: int, name: str, *, inputs: int = 1, outputs: int = 0) -> sound_card.SoundDevice:
    return sound_card.SoundDevice(
        index=index, name=name, inputs=inputs, outputs=outputs, is_default_input=False, is_default_output=False
    )


DESK = [
    device(0, "Built-in Speaker", inputs=0, outputs=2),
    device(1, "USB Headset"),
    device(2, "USB Camera"),
    device(3, "USB"),
    device(4, "Line"),
]


@pytest.mark.parametrize(("wanted", "index"), [(None, None), ("head", 1), ("2", 2), (2, 2), ("usb", 3), ("LINE", 4)])
def test_a_part_of_a_name_chooses_a_device_and_a_whole_name_goes_first(wanted: str | None, index: int | None) -> None:
    assert sound_card.choose(DESK, wanted, "microphone") == index


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        ("us", '"us" fits 3 microphones: 1 USB Headset; 2 USB Camera; 3 USB; give more of the name, or the number.'),
        ("built", 'No microphone has "built" in its name; here are: 1 USB Headset; 2 USB Camera; 3 USB; 4 Line.'),
        ("0", "No microphone has the number 0; here are: 1 USB Headset; 2 USB Camera; 3 USB; 4 Line."),
    ],
)
def test_a_device_that_is_not_there_or_not_the_only_one_is_one_sentence(wanted: str, sentence: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        sound_card.choose(DESK, wanted, "microphone")
    assert str(refused.value) == sentence


def test_a_card_that_cannot_do_16_khz_runs_at_its_own_rate(scripted_sounddevice: Any) -> None:
    scripted_sounddevice.rates = (96000,)
    stream = sound_card.open_duplex(lambda *_: None, input="headset", output="headset")
    (opened,) = scripted_sounddevice.opened
    assert (opened["samplerate"], opened["blocksize"]) == (96000, 768)
    assert all(seconds > 0.001 for seconds in stream.latency), "resampling takes time, too"


def test_a_card_that_can_do_no_rate_says_why(scripted_sounddevice: Any) -> None:
    scripted_sounddevice.rates = (8000,)
    with pytest.raises(ComponentError, match="The sound device cannot be opened .*Invalid sample rate"):
        sound_card.open_duplex(lambda *_: None)


def test_after_a_device_was_unplugged_portaudio_looks_for_devices_again(scripted_sounddevice: Any) -> None:
    sound_card.reopen_duplex(lambda *_: None)
    assert scripted_sounddevice.started == ["terminated", "initialized"]
    assert len(scripted_sounddevice.opened) == 1


def test_without_a_usable_device_the_error_says_what_to_do(scripted_sounddevice: Any) -> None:
    scripted_sounddevice.fails = PortAudioError("Error querying device -1")
    with pytest.raises(ComponentError, match=r"Error querying device -1.*replay a recording"):
        sound_card.open_duplex(lambda *_: None)


def test_importing_the_client_opens_no_device_and_loads_no_sound_library() -> None:
    code = (
        "import sys, voice.client.sound.device_line, voice.client.sound.monitor, voice.client.sound.sound_card;"
        "sys.exit('sounddevice' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


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
