"""Sums of what was spent, and the caps that they are held against. Pure: amounts and days are passed in.

Amounts are US dollars.
"""

from dataclasses import dataclass
from datetime import date

from latency.record.requests import Cap


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """What may be spent; None for no limit."""

    per_call: float | None = None
    per_day: float | None = None

    def reached(self, *, call: float, day: float) -> Cap | None:
        """The cap that is reached when a call and its day have cost so much; None for none."""
        if self.per_call is not None and call >= self.per_call:
            return "call"
        return "day" if self.per_day is not None and day >= self.per_day else None

    def limit(self, cap: Cap) -> float:
        """The amount of a cap that was reached."""
        amount = self.per_call if cap == "call" else self.per_day
        return 0.0 if amount is None else amount


class CallLedger:
    """What one call has cost so far. A request's cost grows while it runs and may be corrected when it ends."""

    def __init__(self) -> None:
        self._answers: dict[int, float] = {}

    @property
    def usd(self) -> float:
        """The whole call."""
        return sum(self._answers.values())

    def note(self, answer: int, usd: float) -> float:
        """An answer has cost so much until now; returns how much of that is new."""
        new = usd - self._answers.get(answer, 0.0)
        self._answers[answer] = usd
        return new


class DayLedger:
    """What was spent on one day, by this process and by others; a new day begins at nothing."""

    def __init__(self) -> None:
        self._day: date | None = None
        self._stored = 0.0
        self._unstored = 0.0

    def usd(self, day: date) -> float:
        """What is known to have been spent on a day."""
        return self._stored + self._unstored if day == self._day else 0.0

    def add(self, usd: float, day: date) -> None:
        """This process has spent more."""
        self._turn_to(day)
        self._unstored += usd

    def unstored(self, day: date) -> float:
        """What of the day's sum only this process knows."""
        return self._unstored if day == self._day else 0.0

    def stored(self, day: date, *, total: float, added: float) -> None:
        """`added` of this process was stored; with it, all processes have spent `total` on the day."""
        self._turn_to(day)
        self._stored = total
        self._unstored -= added

    def _turn_to(self, day: date) -> None:
        if day != self._day:
            self._day, self._stored, self._unstored = day, 0.0, 0.0
