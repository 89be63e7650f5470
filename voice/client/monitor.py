"""Listening in on a replay: an output-only loudspeaker fed by what the measured one plays, without effect on it."""

import functools
import threading
from collections.abc import Callable

from voice.client.pcm import RATE, Pcm, StreamResampler
from voice.client.sound_card import Device, OutputCallback, SoundStream, open_output

PREFILL, MOST = 0.1, 0.5
"""Seconds buffered before sound starts, and at most: two clocks drift apart, and one who listens in must not lag."""


class Monitor:
    """Pass `play` as the tap of a `PacedLine`.

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
        self._buffer = bytearray()
        self._is_filled = False
        self._lock = threading.Lock()

    def open(self) -> None:
        """Start the loudspeaker.

        Raises:
            ComponentError: PortAudio or a device is missing or cannot be opened.
            ConfigurationError: no device, or more than one, goes by the name given.
        """
        self._stream = self._open_stream(self._fill)
        self._stream.start()

    def play(self, pcm: Pcm, rate: int) -> None:
        """The next samples; what is too far behind is skipped."""
        if self._resampler is None:
            self._resampler = StreamResampler(rate, RATE)
        samples = self._resampler.push(pcm).tobytes()
        with self._lock:
            self._buffer += samples
            if len(self._buffer) > _bytes(MOST):
                del self._buffer[: len(self._buffer) - _bytes(PREFILL)]

    def close(self) -> None:
        """Stop the loudspeaker."""
        if self._stream:
            self._stream.close()
            self._stream = None

    def _fill(self, outdata: memoryview, frames: int, _times: object, _status: object) -> None:
        """Runs in the card's thread."""
        with self._lock:
            self._is_filled = len(self._buffer) >= (2 * frames if self._is_filled else _bytes(PREFILL))
            ready = bytes(self._buffer[: 2 * frames]) if self._is_filled else b""
            del self._buffer[: len(ready)]
        outdata[:] = ready + bytes(2 * frames - len(ready))


def _bytes(seconds: float) -> int:
    return 2 * round(seconds * RATE)
