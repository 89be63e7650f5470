"""The rate limits that the requests to a model share, and what its response headers say of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from voice.simulator.timing.allowance import Allowance


@dataclass(frozen=True, slots=True)
class Left:
    """What one limit has left.

    Parameters:
        limit: the allowance of a minute.
        remaining: what is left of it.
        full_in: seconds until it is whole again.
    """

    limit: int
    remaining: int
    full_in: float


class Quota:
    """Allowances by what they limit: "requests", "tokens", "input-tokens", "output-tokens".

    Args:
        limits: the allowance of a minute, by what it limits.
        clock: returns seconds.
    """

    def __init__(self, limits: Mapping[str, float], clock: Callable[[], float]) -> None:
        self._clock = clock
        self._allowances = {name: Allowance(limit, clock()) for name, limit in limits.items()}

    @property
    def admits(self) -> bool:
        """Whether another request is served: something of every allowance is left."""
        return all(allowance.remaining(self._clock()) >= 1 for allowance in self._allowances.values())

    @property
    def retry_after(self) -> float:
        """Seconds until another request is served."""
        return max(allowance.enough_in(1, self._clock()) for allowance in self._allowances.values())

    def take(self, name: str, amount: float) -> None:
        """Use some of an allowance, if there is one of that name."""
        if name in self._allowances:
            self._allowances[name].take(amount, self._clock())

    @property
    def left(self) -> dict[str, Left]:
        """What is left of each allowance."""
        now = self._clock()
        return {
            name: Left(int(allowance.limit), allowance.remaining(now), allowance.full_in(now))
            for name, allowance in self._allowances.items()
        }
