"""Lists the sound devices of this machine and opens them in the call's format, through PortAudio."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from voice.client.sound.pcm import MESSAGE_SAMPLES, RATE
from voice.errors import ComponentError, ConfigurationError

CARD_BLOCK = MESSAGE_SAMPLES // 2
"""Samples that a sound card exchanges at once: 8 ms, so that every message ends with a block."""

Device = int | str | None
"""A device's index, part of its name, or None for the system's default."""

DuplexCallback = Callable[[Any, Any, int, Any, Any], None]
"""Called from PortAudio's thread: input buffer, output buffer, frames, times, status (true after a drop-out)."""

OutputCallback = Callable[[Any, int, Any, Any], None]


class SoundStream(Protocol):
    """An open stream, such as those of sounddevice."""

    @property
    def latency(self) -> Any:
        """Seconds: (input, output) of a duplex stream, one number of an output stream."""

    def start(self) -> None:
        """Begin to call back."""

    def close(self) -> None:
        """Stop; no callback runs once this has returned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SoundDevice:
    """A device of this machine."""

    index: int
    name: str
    inputs: int
    """Channels it records; 0 for a loudspeaker."""
    outputs: int
    is_default_input: bool
    is_default_output: bool

    def __str__(self) -> str:
        """One line: `2 Headset: 1 in (default), 2 out`."""
        sides = [(self.inputs, "in", self.is_default_input), (self.outputs, "out", self.is_default_output)]
        used = ", ".join(f"{count} {side}{' (default)' * default}" for count, side, default in sides if count)
        return f"{self.index} {self.name}: {used}"


def list_devices() -> list[SoundDevice]:
    """The sound devices of this machine; empty when there are none.

    Raises:
        ComponentError: PortAudio is missing.
    """
    sounddevice = _sounddevice()
    default_input, default_output = sounddevice.default.device
    return [
        SoundDevice(
            index=index,
            name=str(device["name"]),
            inputs=int(device["max_input_channels"]),
            outputs=int(device["max_output_channels"]),
            is_default_input=index == default_input,
            is_default_output=index == default_output,
        )
        for index, device in enumerate(sounddevice.query_devices())
    ]


def open_duplex(callback: DuplexCallback, *, input: Device = None, output: Device = None) -> SoundStream:
    """Open microphone and loudspeaker as one stream, so that both run on one sample clock; 16 kHz mono int16.

    Raises:
        ComponentError: PortAudio or the device is missing or cannot be opened.
        ConfigurationError: no device, or more than one, matches the name.
    """
    sounddevice = _sounddevice()
    devices = _choice(input), _choice(output)
    return _opened(sounddevice, lambda: sounddevice.RawStream(device=devices, callback=callback, **_FORMAT))


def open_output(callback: OutputCallback, *, output: Device = None) -> SoundStream:
    """Open a loudspeaker alone; 16 kHz mono int16. Raises as `open_duplex` does."""
    sounddevice = _sounddevice()
    device = _choice(output)
    return _opened(sounddevice, lambda: sounddevice.RawOutputStream(device=device, callback=callback, **_FORMAT))


_FORMAT = {"samplerate": RATE, "blocksize": CARD_BLOCK, "channels": 1, "dtype": "int16", "latency": "low"}


def _choice(device: Device) -> int | str | None:
    return int(device) if isinstance(device, str) and device.isdecimal() else device


def _opened(sounddevice: Any, make: Callable[[], SoundStream]) -> SoundStream:
    try:
        return make()
    except ValueError as error:  # sounddevice raises it when a name matches no device, or several
        names = ", ".join(f"{device.index} {device.name}" for device in list_devices()) or "none"
        raise ConfigurationError(f"{error}; the sound devices here are: {names}.") from error
    except sounddevice.PortAudioError as error:
        raise ComponentError(
            f"The sound device cannot be opened at 16 kHz mono ({error}); connect one, choose another one, "
            "or replay a recording."
        ) from error


def _sounddevice() -> Any:
    try:
        import sounddevice
    except ImportError as error:
        raise ComponentError("Sound needs the sounddevice package: pip install sounddevice.") from error
    except OSError as error:
        raise ComponentError(
            "Sound needs the PortAudio library: apt install libportaudio2, or brew install portaudio."
        ) from error
    except Exception as error:
        # PortAudio itself did not start; the class of the error is in the module that could not be imported.
        raise ComponentError(f"The sound system does not start ({error}); is an audio service running?") from error
    return sounddevice
