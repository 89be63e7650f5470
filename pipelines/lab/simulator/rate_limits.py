"""A provider's rate limits: allowances per minute that refill evenly and that the requests to a model share."""

from collections.abc import Callable, Mapping

MINUTE = 60.0


class Bucket:
    """A minute's allowance of requests or tokens.

    Args:
        limit: the allowance of a minute; the bucket is full at first.
        clock: returns seconds.
    """

    def __init__(self, limit: float, clock: Callable[[], float]) -> None:
        self.limit = limit
        self._clock = clock
        self._held, self._at = limit, clock()

    @property
    def remaining(self) -> int:
        """The rest of it, in whole units; never below 0."""
        return max(0, int(self._level() + 1e-9))

    @property
    def full_in(self) -> float:
        """Seconds until the bucket is full again."""
        return self._seconds(self.limit)

    def take(self, amount: float) -> None:
        """Use some of it. A request that was admitted is served to its end, so the rest may become negative."""
        self._held = self._level() - amount
        self._at = self._clock()

    def enough_in(self, amount: float) -> float:
        """Seconds until `amount` is available; a minute for an allowance of 0."""
        return self._seconds(amount)

    def _seconds(self, wanted: float) -> float:
        return max(0.0, wanted - self._level()) * MINUTE / self.limit if self.limit else MINUTE

    def _level(self) -> float:
        return min(self.limit, self._held + (self._clock() - self._at) * self.limit / MINUTE)


class RateLimits:
    """Buckets by what they limit: "requests", "tokens", "input-tokens", "output-tokens".

    Args:
        limits: the allowance of a minute, by what it limits.
        clock: returns seconds.
    """

    def __init__(self, limits: Mapping[str, float], clock: Callable[[], float]) -> None:
        self.buckets: dict[str, Bucket] = {name: Bucket(limit, clock) for name, limit in limits.items()}

    @property
    def admits(self) -> bool:
        """Whether another request is served: something is left in every bucket."""
        return all(bucket.remaining >= 1 for bucket in self.buckets.values())

    @property
    def retry_after(self) -> float:
        """Seconds until another request is served."""
        return max(bucket.enough_in(1) for bucket in self.buckets.values())

    def take(self, name: str, amount: float) -> None:
        """Use some of an allowance, if there is one of that name."""
        if name in self.buckets:
            self.buckets[name].take(amount)
