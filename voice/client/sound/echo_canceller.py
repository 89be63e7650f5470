"""Takes the loudspeaker's sound out of the microphone's, and noise and differences of level with it.

This is what browsers do: WebRTC's echo canceller (AEC3), noise suppressor and gain control, from the package
`pywebrtc-audio`. docs/benchmarks/2026-11-24-echo.md compares it with others.

AEC3 finds by itself how late the echo comes, from 0 to about 0.5 s, and follows it when it changes: a card that lost
samples, a clock that drifts, a loudspeaker that was moved. `HELD_BACK` makes room for slower cards.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from voice.client.sound.pcm import RATE, Pcm
from voice.errors import ComponentError

FRAME = RATE // 100
"""Samples that WebRTC processes at once: 10 ms."""
HELD_BACK = 0.25
"""Seconds of a card's latency that the canceller is left to find; of more, it is given the loudspeaker's sound later.
Cards report their latency inexactly, and a reference that comes after its echo is of no use."""
LATE = 219
"""Samples by which WebRTC's output lags its input (13.7 ms, found by correlation; a test finds it again). As many are
left out at the start, so that a recording holds the user's speech when it was spoken."""
SUPPRESSION = 0
"""WebRTC's least level of noise suppression, 6 dB. The next one takes words with it: of callers who interrupt, 53 % of
the words were misheard instead of 22 % (echo at -6 dB, one synthetic speaker, docs/benchmarks/2026-11-24-echo.md)."""
MOST_GAIN = 6.0
"""dB of gain at most: a soft caller is raised, what is left of the echo is not raised into speech."""

Process = Callable[[Pcm, Pcm], Pcm]
"""Cleans one frame of the microphone, given what was played."""


class EchoCanceller:
    """Cleans what a microphone hears, given what the loudspeaker was handed in the same time. Not thread-safe.

    Args:
        latency: seconds from a sample being handed to the loudspeaker to its echo being handed over, as the card says.
        process: what cleans; None for WebRTC.
        late: samples by which the output of `process` lags its input.

    Raises:
        ComponentError: the package is missing.
    """

    def __init__(self, *, latency: float, process: Process | None = None, late: int = LATE) -> None:
        self._process = process or webrtc()
        self._late = late
        self._heard = np.zeros(0, np.int16)
        self._played = np.zeros(round(max(0.0, latency - HELD_BACK) * RATE), np.int16)

    def clean(self, heard: Pcm, played: Pcm) -> Pcm:
        """The next cleaned samples, in order: as many as there are whole frames of 10 ms so far.

        Args:
            heard: the microphone's next samples, 16 kHz.
            played: what the loudspeaker was handed meanwhile; as many.
        """
        self._heard = np.concatenate([self._heard, heard])
        self._played = np.concatenate([self._played, played])
        whole = len(self._heard) - len(self._heard) % FRAME
        if not whole:
            return np.zeros(0, np.int16)
        cleaned = self._process(self._heard[:whole], self._played[:whole])
        self._heard, self._played = self._heard[whole:], self._played[whole:]
        cleaned, self._late = cleaned[self._late :], max(0, self._late - len(cleaned))
        return cleaned


def webrtc() -> Process:
    """A new canceller of WebRTC.

    Raises:
        ComponentError: the package is missing or does not load here.
    """
    try:
        import pywebrtc_audio
    except ImportError as error:
        raise ComponentError(
            f"Echo cancellation does not load ({error}): pip install pywebrtc-audio, or wear headphones and add "
            "--no-echo-cancellation."
        ) from error
    processor: Any = pywebrtc_audio.AudioProcessor(
        sample_rate=RATE,
        echo_cancellation=True,
        noise_suppression=True,
        ns_level=SUPPRESSION,
        auto_gain_control=True,
        agc_max_gain_db=MOST_GAIN,
    )
    process: Process = processor.process
    return process
