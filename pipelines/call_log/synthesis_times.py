"""Measures how long synthesis takes from an answer's first clause to its first sample; deadlines allow for that time.

It measures once per turn, and only if nothing was spoken before the answer: after a phrase, the answer waits for the
phrase's audio.
"""

from collections.abc import Callable

from voice.turns.turn_follower import TurnFollower


class SynthesisTimes(TurnFollower[None]):
    """Follows the turns of a call.

    Args:
        measured: takes each time, in seconds.
    """

    def __init__(self, measured: Callable[[float], None]) -> None:
        self._measured = measured
        self._done = True
        self._asked = False
        self._context: str | None = None
        self._since = 0.0

    def turn_opened(self, now: float) -> None:
        """Measure anew."""
        self._done, self._asked, self._context = False, False, None

    def asked(self, now: float) -> None:
        """What is spoken from now on is the answer."""
        self._asked = True

    def asked_ahead(self, now: float) -> None:
        """So it is after a speculative request."""
        self._asked = True

    def model_failed(self, now: float, reason: str, *, clauses: int = 0) -> None:
        """An apology is not measured."""
        self._done = True

    def speech_begun(self, now: float, text: str, context: str | None, *, of_answer: bool = True) -> None:
        """The first clause of the answer is the beginning."""
        if not of_answer:
            self._done = True
        elif self._asked and self._context is None:
            self._context, self._since = context, now

    def speech_made(self, now: float, seconds: float, context: str | None) -> None:
        """The first sample of that clause is the end."""
        if context is not None and context == self._context:
            if not self._done:
                self._measured(now - self._since)
            self._done = True
