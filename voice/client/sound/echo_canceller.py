"""Removes the loudspeaker's sound from the microphone's, reduces noise, and evens out the level.

Uses the same parts as browsers: WebRTC's echo canceller (AEC3), noise suppressor and gain control, from the package
`pywebrtc-audio`. docs/benchmarks/2026-11-24-echo.md compares it with others.

AEC3 finds the delay of the echo by itself, from 0 to about 0.5 s, and follows its changes: lost samples, a drifting
clock, a moved loudspeaker. `HELD_BACK` extends this to slower cards.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from voice.client.sound.pcm import RATE, Pcm
from voice.errors import ComponentError

FRAME = RATE // 100
"""Samples that WebRTC processes at once: 10 ms."""
HELD_BACK = 0.25
"""Seconds of a card's latency that the canceller must find itself; for a longer one, the loudspeaker's sound is
delayed. Cards report their latency inexactly, and a reference after its echo is useless."""
LATE = 219
"""Samples by which WebRTC's output lags its input (13.7 ms, found by correlation and checked by a test). As many are
dropped at the start, to keep a recording in time."""
SUPPRESSION = 0
"""WebRTC's least level of noise suppression, 6 dB. The next one also removes words: of callers who interrupt, 53 % of
the words were misheard instead of 22 % (echo at -6 dB, one synthetic speaker, docs/benchmarks/2026-11-24-echo.md)."""
MOST_GAIN = 6.0
"""The most gain in dB: enough for a soft caller, too little to raise the residual echo to speech level."""

Process = Callable[[Pcm, Pcm], Pcm]
"""Cleans one frame of the microphone, given the frame played."""


class EchoCanceller:
    """Cleans a microphone's audio, given the loudspeaker's audio of the same time. Not thread-safe.

    Args:
        latency: seconds from handing a sample to the loudspeaker to receiving its echo, as reported by the card.
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
            played: the loudspeaker's samples of the same time; equally many.
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
