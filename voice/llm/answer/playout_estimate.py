"""Estimates from the text when playout will end, because playout cannot be observed from here. Pure."""

SECONDS_PER_CHARACTER = 0.06
"""Of English speech. Rather too short: a gap is worse than an unnecessary continuation."""


class PlayoutEstimate:
    """Adds up how long the text that was handed to synthesis takes to be spoken.

    Args:
        lag: seconds from the hand-over to the first sound.
    """

    def __init__(self, *, lag: float = 0.1) -> None:
        self._lag = lag
        self._waiting = 0.0
        self.ends_at: float | None = None
        """When all of it will have been played, seconds; None before any."""

    def add(self, text: str, now: float | None) -> None:
        """Add text handed to synthesis at `now`; None while it is held back until the commit."""
        seconds = len(text.strip()) * SECONDS_PER_CHARACTER
        if now is None:
            self._waiting += seconds
        else:
            self._play(seconds, now)

    def release(self, now: float) -> None:
        """What was held back is spoken from now on."""
        if self._waiting:
            self._play(self._waiting, now)
            self._waiting = 0.0

    def _play(self, seconds: float, now: float) -> None:
        self.ends_at = max(self.ends_at or 0.0, now + self._lag) + seconds
