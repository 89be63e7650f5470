"""Lists the sound devices of this machine and opens them in the call's format, through PortAudio.

For a card that does not support the call's rate, callbacks are converted to 16 kHz (`CardRate`).
"""

import contextlib
import ctypes
import functools
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from voice.client.sound.pcm import MESSAGE_SAMPLES, RATE, Pcm, StreamResampler
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
        """Seconds: (input, output) for a duplex stream, one number for an output stream."""

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
    """Input channels; 0 for a loudspeaker."""
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

    A card that does not support 16 kHz runs at its own rate, and is resampled.

    Raises:
        ComponentError: PortAudio or the device is missing or cannot be opened.
        ConfigurationError: no device, or more than one, matches the name.
    """
    sounddevice = _sounddevice()
    found = list_devices()
    devices = choose(found, input, "microphone"), choose(found, output, "loudspeaker")

    def open_at_own_rate(rate: int) -> SoundStream:
        exchange = CardRate(callback, rate)
        settings = {**_FORMAT, "samplerate": rate, "blocksize": exchange.block}
        return CardRateStream(sounddevice.RawStream(device=devices, callback=exchange, **settings), exchange)

    def open_at_any_rate() -> SoundStream:
        try:
            return _stream(sounddevice.RawStream(device=devices, callback=callback, **_FORMAT))
        except sounddevice.PortAudioError as error:
            if not _is_about_rate(error):
                raise
            return _first_that_opens(open_at_own_rate, _own_rates(sounddevice, devices), error)

    return _opened(sounddevice, open_at_any_rate)


def reopen_duplex(callback: DuplexCallback, *, input: Device = None, output: Device = None) -> SoundStream:
    """As `open_duplex`, after PortAudio has searched for devices again. No other stream may be open.

    Raises as `open_duplex` does.
    """
    sounddevice = _sounddevice()
    # PortAudio lists the devices only when it starts.
    sounddevice._terminate()
    sounddevice._initialize()
    return open_duplex(callback, input=input, output=output)


def open_output(callback: OutputCallback, *, output: Device = None) -> SoundStream:
    """Open a loudspeaker alone; 16 kHz mono int16. Raises as `open_duplex` does."""
    sounddevice = _sounddevice()
    device = choose(list_devices(), output, "loudspeaker")
    return _opened(
        sounddevice, lambda: _stream(sounddevice.RawOutputStream(device=device, callback=callback, **_FORMAT))
    )


def choose(devices: Sequence[SoundDevice], wanted: Device, kind: Literal["microphone", "loudspeaker"]) -> int | None:
    """The number of the wanted device; None for the system's default.

    Args:
        devices: those of this machine.
        wanted: its number, or a part of its name in any case; a full match takes precedence.
        kind: its intended use.

    Raises:
        ConfigurationError: no device, or more than one, matches.
    """
    if wanted is None:
        return None
    fit = [one for one in devices if (one.inputs if kind == "microphone" else one.outputs)]
    here = "; ".join(f"{one.index} {one.name}" for one in fit) or "none"
    if isinstance(wanted, int) or wanted.isdecimal():
        if any(one.index == int(wanted) for one in fit):
            return int(wanted)
        raise ConfigurationError(f"No {kind} has the number {wanted}; here are: {here}.")
    name = wanted.strip().lower()
    found = [one for one in fit if one.name.lower() == name] or [one for one in fit if name in one.name.lower()]
    if len(found) == 1:
        return found[0].index
    if found:
        these = "; ".join(f"{one.index} {one.name}" for one in found)
        raise ConfigurationError(
            f'"{wanted}" fits {len(found)} {kind}s: {these}; give more of the name, or the number.'
        )
    raise ConfigurationError(f'No {kind} has "{wanted}" in its name; here are: {here}.')


_FORMAT = {"samplerate": RATE, "blocksize": CARD_BLOCK, "channels": 1, "dtype": "int16", "latency": "low"}
_INVALID_SAMPLE_RATE = -9997
"""PortAudio's error number."""
_USUAL_RATES = (48000, 44100)


def _is_about_rate(error: Exception) -> bool:
    return len(error.args) > 1 and error.args[1] == _INVALID_SAMPLE_RATE


def _own_rates(sounddevice: Any, devices: tuple[int | None, int | None]) -> list[int]:
    """The devices' reported rates, then the usual ones."""
    said = (sounddevice.query_devices(device, kind) for device, kind in zip(devices, ("input", "output"), strict=True))
    return list(dict.fromkeys((*(int(one["default_samplerate"]) for one in said), *_USUAL_RATES)))


def _first_that_opens(make: Callable[[int], SoundStream], rates: Sequence[int], error: Exception) -> SoundStream:
    for rate in rates:
        try:
            return make(rate)
        except type(error) as refused:
            if not _is_about_rate(refused):
                raise
    raise error


def _stream(stream: Any) -> SoundStream:
    opened: SoundStream = stream
    return opened


def _opened(sounddevice: Any, make: Callable[[], SoundStream]) -> SoundStream:
    try:
        return make()
    except sounddevice.PortAudioError as error:
        raise ComponentError(
            f"The sound device cannot be opened ({error}); connect one, choose another one, or replay a recording."
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
        # PortAudio itself did not start; its error class is in the module that could not be imported.
        raise ComponentError(f"The sound system does not start ({error}); is an audio service running?") from error
    _silence_alsa()
    return sounddevice


@functools.cache
def _silence_alsa() -> None:
    """Keep ALSA from writing over the terminal's display; PortAudio reports real errors."""
    if not sys.platform.startswith("linux"):
        return
    with contextlib.suppress(OSError, AttributeError):  # PortAudio was built without it
        ctypes.CDLL("libasound.so.2").snd_lib_error_set_handler(_NOTHING)


# ALSA keeps the pointer, so it must live as long as the process.
_NOTHING = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p)(
    lambda *_said: None
)


_BLOCK_SECONDS = CARD_BLOCK / RATE
_PROBE = 0.5
"""Seconds of silence for measuring the delay of a resampler."""


class CardRate:
    """Exchanges sound with a card at its own rate; keeps input and output on one clock.

    Args:
        callback: called with whole blocks at 16 kHz, as by a card at that rate.
        card_rate: hertz of the card.
    """

    def __init__(self, callback: DuplexCallback, card_rate: int) -> None:
        self.rate = card_rate
        self.block = round(_BLOCK_SECONDS * card_rate)
        """Samples that the card should exchange at once."""
        self._callback = callback
        self._up, self._down = StreamResampler(card_rate, RATE), StreamResampler(RATE, card_rate)
        up, down = _held_back(card_rate, RATE), _held_back(RATE, card_rate)
        # Enough silence is played first that the card never waits for the resamplers, or for parts of blocks.
        ahead = max(up) + max(down) + 2 * _BLOCK_SECONDS
        self.latency = (min(up), ahead - min(up))
        """Seconds of additional delay of input and output, compared to a card at 16 kHz."""
        self._status: Any = False
        self._heard = np.zeros(0, np.int16)
        self._to_play: Pcm = np.zeros(round(ahead * card_rate), np.int16)

    def __call__(self, indata: Any, outdata: Any, frames: int, times: Any, status: Any) -> None:
        """Runs in the card's thread."""
        # There may be no whole block this time.
        self._status = status or self._status
        self._heard = np.concatenate([self._heard, self._up.push(np.frombuffer(bytes(indata), np.int16))])
        while len(self._heard) >= CARD_BLOCK:
            block, self._heard = self._heard[:CARD_BLOCK], self._heard[CARD_BLOCK:]
            played = bytearray(2 * CARD_BLOCK)
            self._callback(block.tobytes(), memoryview(played), CARD_BLOCK, times, self._status)
            self._status = False
            self._to_play = np.concatenate([self._to_play, self._down.push(np.frombuffer(bytes(played), np.int16))])
        late = max(0, frames - len(self._to_play))
        outdata[:] = np.concatenate([np.zeros(late, np.int16), self._to_play[: frames - late]]).tobytes()
        self._to_play = self._to_play[frames - late :]


class CardRateStream:
    """The stream of such a card.

    Args:
        stream: that of the card itself.
        exchange: the converter that it calls back.
    """

    def __init__(self, stream: SoundStream, exchange: CardRate) -> None:
        self._stream, self._exchange = stream, exchange

    @property
    def latency(self) -> tuple[float, float]:
        """Seconds of input and output, resampling included."""
        heard, played = self._stream.latency
        return heard + self._exchange.latency[0], played + self._exchange.latency[1]

    def start(self) -> None:
        """Begin to call back."""
        self._stream.start()

    def close(self) -> None:
        """Stop; no callback runs once this has returned."""
        self._stream.close()


def _held_back(from_rate: int, to_rate: int) -> list[float]:
    """Seconds of sound that a resampler holds back after each of some blocks: its output comes in bursts."""
    resampler, block = StreamResampler(from_rate, to_rate), round(_BLOCK_SECONDS * from_rate)
    held, pushed, passed = [], 0, 0
    while pushed < _PROBE * from_rate:
        pushed += block
        passed += len(resampler.push(np.zeros(block, np.int16)))
        if passed:
            held.append(pushed / from_rate - passed / to_rate)
    return held
