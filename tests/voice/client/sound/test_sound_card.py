"""Sound devices are listed, chosen and opened, and what is missing is named."""

import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from tests.voice.client.sound.scripted_card import ScriptedCard
from voice.client.sound import sound_card
from voice.client.sound.pcm import RATE
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
    module.query_devices = lambda: [
        {"name": "Speakers", "max_input_channels": 0, "max_output_channels": 2},
        {"name": "Headset", "max_input_channels": 1, "max_output_channels": 2},
    ]
    module.opened = []
    module.fails = None

    def open_stream(**how: object) -> ScriptedCard:
        if module.fails:
            raise module.fails
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
    assert duplex["device"] == (1, "Speak")
    assert output["device"] is None
    for how in (duplex, output):
        assert (how["samplerate"], how["channels"], how["dtype"]) == (RATE, 1, "int16")


def test_a_missing_device_is_reported_with_those_that_are_there(scripted_sounddevice: Any) -> None:
    scripted_sounddevice.fails = ValueError("No input device matching 'nope'")
    with pytest.raises(ConfigurationError, match=r"'nope'; the sound devices here are: 0 Speakers, 1 Headset"):
        sound_card.open_duplex(lambda *_: None, input="nope")


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
