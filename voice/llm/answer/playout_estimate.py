"""Until when is there something to hear? An estimate from the text alone, because playout is far away. Pure."""

SECONDS_PER_CHARACTER = 0.06
"""Of English speech; on the short side, because a gap is worse than a continuation that was not needed."""


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
        """Text was handed over at `now`; None while it is held back until the turn is committed."""
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
