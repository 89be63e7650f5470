"""Checks that the user's audio was sent in real time, without which a call's figures mean little. Pure."""

from array import array

from latency.record.session import Pacing
from voice.client.sound.pcm import MESSAGE_SAMPLES, RATE

LATE = 0.02
"""Seconds; a frame that is later than this is late by more than its own duration."""

_FRAME_SECONDS = MESSAGE_SAMPLES / RATE


class PacingLog:
    """Notes when each frame was due and when it was sent.

    Args:
        on_card: whether a sound card paces the frames; its clock is followed, so that it need not be exact.
    """

    def __init__(self, *, on_card: bool = False) -> None:
        self._on_card = on_card
        self._lateness = array("f")
        self._first = self._last = 0.0

    def note(self, due: float, left: float) -> None:
        """The next frame was due at `due` and was sent at `left`, seconds on one clock."""
        if not self._lateness:
            self._first = left
        self._last = left
        self._lateness.append(left - due)

    @property
    def clock_ratio(self) -> float | None:
        """Seconds of the clock that passed per second of audio sent; None for fewer than two frames."""
        frames = len(self._lateness)
        return round((self._last - self._first) / ((frames - 1) * _FRAME_SECONDS), 6) if frames > 1 else None

    @property
    def seconds(self) -> float:
        """Seconds of audio that were sent."""
        return len(self._lateness) * _FRAME_SECONDS

    def late_max(self, start: float, end: float) -> float | None:
        """How late the latest frame between two instants of the recording was, seconds; None when none was sent."""
        part = self._lateness[max(0, int(start / _FRAME_SECONDS)) : max(0, int(end / _FRAME_SECONDS))]
        return max(part, default=None)

    def summary(self) -> Pacing:
        """The figures for a report."""
        frames = len(self._lateness)
        worst = max(self._lateness, default=None)
        return Pacing(
            frames=frames,
            late_over_20ms=sum(late > LATE for late in self._lateness),
            late_max_ms=None if worst is None else round(worst * 1000, 2),
            on_card=self._on_card,
            clock_ratio=self.clock_ratio,
        )
