"""Statistics of each tier's recent speed. Pure: instants are passed in.

One `TierStatistics` serves all calls of a process, so that a call starts with the measurements of earlier ones.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter

from latency.budget import FLOOR_GUARD

REQUESTS_COUNTED = 100
"""The number of recent requests that count."""
ENOUGH_CLAUSES = 10
"""The least requests with a first clause for the measured percentile to replace the assumed one."""
RECENT = 20
"""The recent turns by which a tier's punctuality is judged."""
PROBE_EVERY = 8
"""Turns between two trials of a demoted tier."""
TAIL_FACTOR = 1.15
"""Correction for a hundred requests underestimating the tail of the next hundred. Asking early costs less than a
miss."""
DOWN_FOR = 30.0
"""Seconds for which a tier is not asked after it refused to serve (a rejected key)."""
ENOUGH_TO_FORESEE = 5
"""Requests from which on the statistics say when a request that is under way will have its first clause."""
SLOW_SHARE = 0.9
"""The share of requests that write as fast as a tier is expected to."""
CLOCK_STEP = 0.001
"""Seconds; shorter differences between waits say nothing."""
_Z = 1.645
_SECONDS, _REACHED = attrgetter("seconds"), attrgetter("reached")


@dataclass(frozen=True, slots=True)
class Wait:
    """The seconds from a request to its first clause, or to its cancellation before that."""

    seconds: float
    reached: bool


def quantile(waits: Sequence[Wait], share: float) -> float | None:
    """The time by which `share` (0 to 1) of the requests have a first clause, by the Kaplan-Meier estimate.

    A request cancelled before its first clause is censored: it counts as at risk until then. A quantile beyond the data
    is given as the longest wait; None without waits.
    """
    # At the same instant, completed waits come first; sorting keeps that order.
    ordered = sorted(sorted(waits, key=_REACHED, reverse=True), key=_SECONDS)
    surviving = 1.0
    for position, wait in enumerate(ordered):
        if wait.reached:
            surviving *= 1 - 1 / (len(ordered) - position)
            if surviving <= 1 - share + 1e-9:
                return wait.seconds
    return ordered[-1].seconds if ordered else None


def foreseen(waits: Sequence[Wait], elapsed: float) -> float | None:
    """Seconds from a request to its first clause, if it has none after `elapsed` seconds; None when that is unknown.

    It is the median of the earlier requests that took longer. It is unknown if there are less than two of these, or if
    most of them were cancelled before a clause.
    """
    longer = [wait for wait in waits if wait.seconds > elapsed + CLOCK_STEP]
    if len(longer) < 2 or 2 * sum(wait.reached for wait in longer) < len(longer):
        return None
    return quantile(longer, 0.5)


class TokenBucket:
    """An allowance: each turn adds a share of a token, each use takes a whole one.

    Args:
        per_turn: tokens added by a turn.
        most: tokens it holds, also at the start.
    """

    def __init__(self, *, per_turn: float = 0.1, most: float = 3.0) -> None:
        self._per_turn, self._most = per_turn, most
        self._tokens = most
        self.withheld: Callable[[], bool] = lambda: False
        """Whether use is suspended, regardless of the tokens."""

    @property
    def allows(self) -> bool:
        """Whether a whole token is available and may be used."""
        return self._tokens >= 1 - 1e-9 and not self.withheld()

    def turn(self) -> None:
        """Count a committed turn."""
        self._tokens = min(self._most, self._tokens + self._per_turn)

    def take(self) -> None:
        """Use a token. Turns planned at the same time may leave a debt, which later ones pay."""
        self._tokens -= 1


class TierPreference:
    """Whether to ask a tier first: it is demoted if it is rarely in time, and promoted when it recovers.

    Two bounds keep it from flapping. It is demoted when even the upper bound of its share in time lies below
    `demote_below` (six misses in a row, or three hits in twenty), and promoted when the lower bound of its trials lies
    above `promote_above` (three hits in a row). Trials come every `PROBE_EVERY` turns, and at once after a hit.
    """

    def __init__(self, *, demote_below: float = 0.33, promote_above: float = 0.4) -> None:
        self._demote_below, self._promote_above = demote_below, promote_above
        self._recent: deque[bool] = deque(maxlen=RECENT)
        self._waited = 0
        self.demoted = False

    def observe(self, in_time: bool) -> None:
        """Record whether the tier, asked first, had a clause by the deadline."""
        self._recent.append(in_time)
        low, high = wilson(sum(self._recent), len(self._recent))
        if not self.demoted and high < self._demote_below:
            self._become(demoted=True)
        elif self.demoted and low > self._promote_above:
            self._become(demoted=False)
        elif self.demoted and not in_time:
            # Only consecutive trials in time count.
            self._recent.clear()

    @property
    def probe_due(self) -> bool:
        """Whether the next turn is to try the demoted tier."""
        return self._waited + 1 >= PROBE_EVERY or (bool(self._recent) and self._recent[-1])

    def turn(self, *, tried: bool) -> None:
        """Count a committed turn, which asked the tier first or did not."""
        self._waited = 0 if tried else self._waited + 1

    def _become(self, *, demoted: bool) -> None:
        self.demoted = demoted
        self._waited = 0
        self._recent.clear()


class TierStatistics:
    """The statistics of each tier, and the hedging allowance.

    Args:
        p95: the assumed 95th percentile from request to first clause, until it is measured: seconds by tier, for every
            tier.
    """

    def __init__(self, p95: dict[str, float]) -> None:
        self._assumed = dict(p95)
        self._waits: dict[str, deque[Wait]] = {tier: deque(maxlen=REQUESTS_COUNTED) for tier in p95}
        # Between two requests, a plan asks for the same percentiles several times.
        self._quantiles: dict[tuple[str, float], float | None] = {}
        self._tokens: dict[str, deque[float]] = {tier: deque(maxlen=REQUESTS_COUNTED) for tier in p95}
        self._down_until: dict[str, float] = {}
        self._room: dict[str, tuple[int, float]] = {}
        self.standing: dict[str, TierPreference] = {tier: TierPreference() for tier in p95}
        self.hedges = TokenBucket()
        self.thinking: set[str] = set()
        """The tiers whose model was last seen to think without marking its thoughts."""

    @property
    def tiers(self) -> tuple[str, ...]:
        """The tiers' names, in the order given."""
        return tuple(self._assumed)

    def turn(self, first: str, *, judged: str | None) -> None:
        """Count a committed turn; discarded speculative answers do not count.

        Args:
            first: the tier that it asks first.
            judged: the tier that may be demoted; see `Policy.judged`.
        """
        self.hedges.turn()
        if judged is not None:
            self.standing[judged].turn(tried=first == judged)

    def observe(self, tier: str, seconds: float, *, reached: bool) -> None:
        """Record that a request had its first clause after `seconds`, or was cancelled then without one."""
        self._waits[tier].append(Wait(seconds, reached))
        self._quantiles = {key: value for key, value in self._quantiles.items() if key[0] != tier}

    def quantile(self, tier: str, share: float) -> float | None:
        """`quantile` over the recent requests to one tier."""
        if (tier, share) not in self._quantiles:
            self._quantiles[tier, share] = quantile(self._waits[tier], share)
        return self._quantiles[tier, share]

    def observe_token(self, tier: str, seconds: float) -> None:
        """Record the mean seconds that a request took for a token, after the first."""
        self._tokens[tier].append(seconds)

    def token(self, tier: str) -> float | None:
        """Seconds for a token in nearly all recent requests to a tier; None if too few are known."""
        times = sorted(self._tokens[tier])
        return times[int(SLOW_SHARE * len(times))] if len(times) >= ENOUGH_TO_FORESEE else None

    def p95(self, tier: str) -> float:
        """The 95th percentile from request to first clause, seconds; at first not below the assumed one."""
        waits = self._waits[tier]
        measured = self.quantile(tier, 0.95)
        if measured is None:
            return self._assumed[tier]
        reached = len(list(islice((wait for wait in waits if wait.reached), ENOUGH_CLAUSES)))
        return measured if reached >= ENOUGH_CLAUSES else max(measured if reached else 0.0, self._assumed[tier])

    def tail(self, tier: str) -> float:
        """Seconds by which a tier's first clause is nearly always ready: its 95th or 99th percentile, if larger.

        With the 95th alone, one rescue in forty by a tier with a long tail would miss the deadline.
        """
        return max(self.p95(tier), self._p99(tier))

    def lead(self, tier: str) -> float:
        """Seconds before an instant at which to ask a tier: its tail times `TAIL_FACTOR`, and a guard of 30 ms."""
        return max(self.p95(tier), self._p99(tier) * TAIL_FACTOR) + FLOOR_GUARD

    def _p99(self, tier: str) -> float:
        return self.quantile(tier, 0.99) or 0.0

    def waits(self) -> dict[str, tuple[Wait, ...]]:
        """The recent requests to each tier that has had `ENOUGH_TO_FORESEE`; see `foreseen`."""
        return {tier: tuple(waits) for tier, waits in self._waits.items() if len(waits) >= ENOUGH_TO_FORESEE}

    def leads(self) -> dict[str, float]:
        """`lead` of every tier."""
        return {tier: self.lead(tier) for tier in self._assumed}

    def refused(self, tier: str, now: float) -> None:
        """Stop asking a tier for a while, because it refuses requests."""
        self.rest(tier, now + DOWN_FOR)

    def rest(self, tier: str, until: float) -> None:
        """Do not ask a tier before the instant `until`."""
        self._down_until[tier] = max(until, self._down_until.get(tier, until))

    def leave_room(self, tier: str, requests: int, until: float) -> None:
        """Limit a tier to so many more requests before the instant `until`, by its rate limits."""
        self._room[tier] = requests, until

    def room(self, now: float) -> dict[str, int]:
        """The number of further requests within each tier's rate limits, if known."""
        return {tier: requests for tier, (requests, until) in self._room.items() if now < until}

    def down(self, now: float) -> frozenset[str]:
        """Tiers that must not be asked now."""
        return frozenset(tier for tier, until in self._down_until.items() if now < until)

    def warning(self, *, large: str, fast: str) -> str | None:
        """One sentence if the fast tier is slower than the large one, else None."""
        slow, quick = self.p95(fast), self.p95(large)
        if slow <= quick:
            return None
        return (
            f"the fast tier {fast} is slower than the large tier {large}: 95 % of its first clauses take up to "
            f"{slow * 1000:.0f} ms, those of {large} up to {quick * 1000:.0f} ms"
        )


def wilson(hits: int, of: int) -> tuple[float, float]:
    """The 90 % confidence interval of a share (Wilson score interval); (0, 1) without trials."""
    if of == 0:
        return 0.0, 1.0
    share, weight = hits / of, _Z * _Z / of
    middle = share + weight / 2
    spread = _Z * (share * (1 - share) / of + weight / (4 * of)) ** 0.5
    return max(0.0, (middle - spread) / (1 + weight)), min(1.0, (middle + spread) / (1 + weight))
