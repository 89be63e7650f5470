"""Plays both sides of a replay on a loudspeaker, without any effect on the measurement."""

import functools
import threading
from collections.abc import Callable

import numpy as np

from voice.client.sound.pcm import RATE, Pcm, StreamResampler
from voice.client.sound.sound_card import Device, OutputCallback, SoundStream, open_output

PREFILL, MOST = 0.1, 0.5
"""Seconds buffered before a side is played, and the most buffered: the two clocks drift apart, and playback must not
lag."""


class _Side:
    """The audio of one side that the loudspeaker has not yet played."""

    def __init__(self) -> None:
        self._samples = np.zeros(0, np.int16)
        self._is_filled = False

    def add(self, pcm: Pcm) -> None:
        self._samples = np.concatenate([self._samples, pcm])
        if len(self._samples) > MOST * RATE:
            self._samples = self._samples[-round(PREFILL * RATE) :]

    def take(self, frames: int) -> Pcm:
        """Samples, or silence until the buffer has filled again."""
        self._is_filled = len(self._samples) >= (frames if self._is_filled else PREFILL * RATE)
        if not self._is_filled:
            return np.zeros(frames, np.int16)
        taken, self._samples = self._samples[:frames], self._samples[frames:]
        return taken


class Monitor:
    """A tap for a `PacedLine`.

    Args:
        output: the loudspeaker; None for the default.
        open_stream: opens an output stream that calls back; None for the machine's sound card.
    """

    def __init__(
        self, *, output: Device = None, open_stream: Callable[[OutputCallback], SoundStream] | None = None
    ) -> None:
        self._open_stream = open_stream or functools.partial(open_output, output=output)
        self._stream: SoundStream | None = None
        self._resampler: StreamResampler | None = None
        self._bot, self._user = _Side(), _Side()
        self._lock = threading.Lock()

    def open(self) -> None:
        """Start the loudspeaker.

        Raises:
            ComponentError: PortAudio or a device is missing or cannot be opened.
            ConfigurationError: no device, or more than one, matches the name given.
        """
        self._stream = self._open_stream(self._fill)
        self._stream.start()

    def play(self, pcm: Pcm, rate: int) -> None:
        """The bot's next samples, as they are played; audio that lags too far is skipped."""
        if self._resampler is None:
            self._resampler = StreamResampler(rate, RATE)
        samples = self._resampler.push(pcm)
        with self._lock:
            self._bot.add(samples)

    def hear(self, pcm: Pcm) -> None:
        """The user's next samples, 16 kHz."""
        with self._lock:
            self._user.add(pcm)

    def close(self) -> None:
        """Stop the loudspeaker."""
        if self._stream:
            self._stream.close()
            self._stream = None

    def _fill(self, outdata: memoryview, frames: int, _times: object, _status: object) -> None:
        """Runs in the card's thread."""
        with self._lock:
            both = self._bot.take(frames).astype(np.int32) + self._user.take(frames)
        outdata[:] = np.clip(both, -32768, 32767).astype(np.int16).tobytes()
