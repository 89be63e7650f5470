"""Records the microphone and plays recordings, on one open stream of the sound card."""

import functools
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from voice.client.sound.pcm import RATE, Pcm
from voice.client.sound.sound_card import Device, DuplexCallback, SoundStream, open_duplex
from voice.errors import ComponentError

GONE = 3.0
"""Seconds beyond a sound's length after which the card counts as unplugged."""


class Recorder:
    """A microphone and a loudspeaker, used one after the other; 16 kHz mono int16.

    Args:
        input: the microphone; None for the default.
        output: the loudspeaker.
        open_stream: opens a duplex stream that calls back; None for the machine's sound card.

    Raises:
        ComponentError: PortAudio or the device is missing or cannot be opened.
        ConfigurationError: no device, or more than one, matches a name.
    """

    def __init__(
        self,
        *,
        input: Device = None,
        output: Device = None,
        open_stream: Callable[[DuplexCallback], SoundStream] | None = None,
    ) -> None:
        self.dropouts = 0
        """Gaps in the latest recording: the card lost sound because the machine was busy."""
        self._heard: list[bytes] | None = None
        self._to_play = b""
        self._played = threading.Event()
        self._stream = (open_stream or functools.partial(open_duplex, input=input, output=output))(self._exchange)
        self._stream.start()

    def start(self) -> None:
        """Begin a recording."""
        self.dropouts = 0
        self._heard = []

    def stop(self) -> Pcm:
        """End the recording; returns it.

        Raises:
            ComponentError: the card has given no sound.
        """
        heard, self._heard = self._heard, None
        if not heard:
            raise ComponentError("The microphone gives no sound; is it plugged in? `voice devices` lists them.")
        return np.frombuffer(b"".join(heard), np.int16)

    def play(self, samples: Pcm) -> None:
        """Play a recording; blocks until it has been played.

        Raises:
            ComponentError: the card has stopped.
        """
        self._played.clear()
        self._to_play = samples.astype(np.int16).tobytes()
        try:
            if not self._played.wait(len(samples) / RATE + GONE):
                raise ComponentError("The loudspeaker has stopped; is it plugged in? `voice devices` lists them.")
        finally:
            self._to_play = b""

    def close(self) -> None:
        """Release the sound card."""
        self._stream.close()

    def _exchange(self, indata: Any, outdata: Any, _frames: int, _times: Any, status: Any) -> None:
        """Runs in the card's thread."""
        if self._heard is not None:
            self._heard.append(bytes(indata))
            self.dropouts += bool(status)
        size = len(outdata)
        piece, self._to_play = self._to_play[:size], self._to_play[size:]
        outdata[:] = piece + bytes(size - len(piece))
        if not self._to_play:
            self._played.set()
