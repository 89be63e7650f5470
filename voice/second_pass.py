"""The check of a turn's words by a second pass of the recogniser: who waits for it, and when nobody does any more.

A short pass gives the words on which a turn ends and its answer is prepared. A longer one, which mishears less, checks
them while the language model thinks. The recogniser begins a check, the language model's service holds the answer back
until the check has ended, and the aggregator replaces the words of the turn.
"""

import asyncio
import math
from collections.abc import Callable

from latency.record.turn import CheckOutcome

LONGEST_WAIT = 0.3
"""Seconds that an answer which could be spoken waits for the check of its words. On two slow cores a check takes 0.2 s
and begins 0.2 s after the end of speech, so answers seldom wait at all."""


class WordCheck:
    """The checks of one call, at most one at a time.

    Args:
        thinks: the usual seconds from a request to the first clause of its answer: a check that takes longer is not
            worth its time. None if that is unknown.
        is_strict: whether an answer waits for its check however long it takes, because wrong words may have effects
            that cannot be undone.
    """

    def __init__(
        self, *, thinks: Callable[[], float | None] = lambda: None, is_strict: Callable[[], bool] = lambda: False
    ) -> None:
        self._thinks, self._is_strict = thinks, is_strict
        self._number = 0
        self._drop: Callable[[CheckOutcome], None] | None = None
        """Stops the pass of the check under way; None without one."""
        self._limit = LONGEST_WAIT
        self._settled = asyncio.Event()
        self._settled.set()
        self._corrected = 0
        """The number of the latest check that replaced words of a committed turn."""
        self.voids: list[Callable[[], None]] = []
        """Called when the words of a committed turn are corrected: they drop its answer at once."""

    def pays(self, seconds: float) -> bool:
        """Whether a check that takes so long is usually done when the language model has its first clause."""
        thinks = self._thinks()
        return thinks is None or seconds <= thinks

    @property
    def is_pending(self) -> bool:
        """Whether a check is under way, so that the answer must wait."""
        return self._drop is not None

    @property
    def limit(self) -> float:
        """The most seconds that an answer waits for the check; infinite if it must."""
        return math.inf if self._is_strict() else self._limit

    def begin(self, drop: Callable[[CheckOutcome], None], *, limit: float = LONGEST_WAIT) -> int:
        """Begin the check of the latest words; returns its number.

        Args:
            drop: stops its pass when nobody waits for it any more; gets the reason.
            limit: see `limit`.
        """
        self.drop()
        self._number += 1
        self._drop, self._limit = drop, limit
        self._settled.clear()
        return self._number

    def awaits(self, number: int) -> bool:
        """Whether this check is still under way, so that it may change words."""
        return self.is_pending and number == self._number

    def end(self, number: int) -> None:
        """The check has a result, and changed words have reached the conversation."""
        if number == self._number:
            self._drop = None
            self._settled.set()

    def drop(self, why: CheckOutcome = "withdrawn") -> None:
        """Nobody waits for the check any more: stop it, and let the answer go."""
        drop, self._drop = self._drop, None
        self._settled.set()
        if drop is not None:
            drop(why)

    def correct(self, number: int) -> None:
        """The check replaces words of a committed turn, whose answer is therefore withdrawn."""
        self._corrected = number
        for void in self.voids:
            void()
        self.end(number)

    async def settled(self) -> bool:
        """Wait until no check is under way; returns whether it has left the words of the turn as they were."""
        if not self.is_pending:
            return True
        number = self._number
        await self._settled.wait()
        return self._corrected != number
