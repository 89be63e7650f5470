"""A provider's rate limit: an allowance a minute that refills evenly. Pure: instants are passed in."""

MINUTE = 60.0


class Allowance:
    """A bucket that holds a minute's allowance of requests or tokens.

    Args:
        limit: the allowance of a minute; the bucket is full at first.
        now: seconds on any clock, the same as in all calls.
    """

    def __init__(self, limit: float, now: float) -> None:
        self.limit = limit
        self._held = limit
        self._at = now

    def remaining(self, now: float) -> int:
        """What is left, in whole units; never below 0."""
        return max(0, int(self._fill(now) + 1e-9))

    def take(self, amount: float, now: float) -> None:
        """Use some of it. What was promised before it ran out is still served, so a debt may be left."""
        self._held = self._fill(now) - amount
        self._at = now

    def full_in(self, now: float) -> float:
        """Seconds until the bucket is full again."""
        return (self.limit - self._fill(now)) * MINUTE / self.limit if self.limit else MINUTE

    def enough_in(self, amount: float, now: float) -> float:
        """Seconds until so much is left; of an allowance of nothing, a minute."""
        return max(0.0, amount - self._fill(now)) * MINUTE / self.limit if self.limit else MINUTE

    def _fill(self, now: float) -> float:
        return min(self.limit, self._held + (now - self._at) * self.limit / MINUTE)
