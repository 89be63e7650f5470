"""Sums of costs, and the caps that limit them. Pure: amounts and days are passed in.

Amounts are US dollars.
"""

from dataclasses import dataclass
from datetime import date

from latency.record.requests import Cap


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """The spending limits; None for no limit."""

    per_call: float | None = None
    per_day: float | None = None

    def reached(self, *, call: float, day: float) -> Cap | None:
        """The cap reached by these costs of a call and its day; None for none."""
        if self.per_call is not None and call >= self.per_call:
            return "call"
        return "day" if self.per_day is not None and day >= self.per_day else None

    def limit(self, cap: Cap) -> float:
        """The amount of a cap."""
        amount = self.per_call if cap == "call" else self.per_day
        return 0.0 if amount is None else amount


class CallLedger:
    """The cost of one call so far. A request's cost grows while it runs, and may be corrected when it ends."""

    def __init__(self) -> None:
        self._answers: dict[int, float] = {}

    @property
    def usd(self) -> float:
        """The cost of the whole call."""
        return sum(self._answers.values())

    def note(self, answer: int, usd: float) -> float:
        """Note an answer's cost so far; returns the new part."""
        new = usd - self._answers.get(answer, 0.0)
        self._answers[answer] = usd
        return new


class DayLedger:
    """The spending of one day, by this process and others; a new day begins at zero."""

    def __init__(self) -> None:
        self._day: date | None = None
        self._stored = 0.0
        self._unstored = 0.0

    def usd(self, day: date) -> float:
        """The known spending of a day."""
        return self._stored + self._unstored if day == self._day else 0.0

    def add(self, usd: float, day: date) -> None:
        """Add spending of this process."""
        self._turn_to(day)
        self._unstored += usd

    def unstored(self, day: date) -> float:
        """The part of the day's sum that is not stored yet."""
        return self._unstored if day == self._day else 0.0

    def stored(self, day: date, *, total: float, added: float) -> None:
        """Note that `added` was stored; all processes together have then spent `total` on the day."""
        self._turn_to(day)
        self._stored = total
        self._unstored -= added

    def _turn_to(self, day: date) -> None:
        if day != self._day:
            self._day, self._stored, self._unstored = day, 0.0, 0.0
