"""The policies that ask the same tiers in every turn: small frozen objects that make a turn's plan."""

from dataclasses import dataclass
from typing import Protocol

from voice.llm.policy.plan import Plan
from voice.llm.policy.tier_statistics import TierStatistics
from voice.llm.policy.turn_info import ANY_TURN, TurnInfo


class Policy(Protocol):
    """Makes a fresh plan for every turn; holds no state of its own."""

    @property
    def name(self) -> str:
        """As in a pipeline file."""
        ...

    @property
    def tiers(self) -> tuple[str, ...]:
        """Every tier it may ask."""
        ...

    @property
    def judged(self) -> str | None:
        """The tier whose being in time decides whether it goes on being asked first; None when that is fixed."""
        ...

    def plan(self, book: TierStatistics, request: TurnInfo = ANY_TURN) -> Plan:
        """The plan of a turn that begins now; the book stays as it is.

        Args:
            book: how fast the tiers have been.
            request: what is known of the turn; most policies need nothing of it.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Single:
    """One tier answers, however long it takes; phrases bridge."""

    tier: str
    bridge: bool = True
    name: str = "single"
    judged: str | None = None

    @property
    def tiers(self) -> tuple[str, ...]:
        """Its only one."""
        return (self.tier,)

    def plan(self, book: TierStatistics, request: TurnInfo = ANY_TURN) -> Plan:
        """Ask the tier, and once more when that failed."""
        return Plan(
            policy=self.name,
            reason="no other tier is asked",
            first=(self.tier,),
            bridge=self.bridge,
            leads=book.leads(),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Fallback:
    """The large tier answers; the fast one is asked as late as it can still make the deadline.

    It is asked its measured tail and a guard before the deadline; see `TierStatistics.lead`. If the fast tier is then
    later than its 95th percentile, or fails, it is asked once more: two requests are rarely both slow. The hedging
    allowance limits such requests, so that an outage of the fast tier does not double its load. `Race` and `Adaptive`
    do so too.
    """

    large: str
    fast: str
    bridge: bool = True
    name: str = "fallback"
    judged: str | None = None

    @property
    def tiers(self) -> tuple[str, ...]:
        """Large, fast."""
        return self.large, self.fast

    def plan(self, book: TierStatistics, request: TurnInfo = ANY_TURN) -> Plan:
        """Ask the large tier, and the fast one its tail and a guard before the deadline."""
        return large_first(self.name, self.large, self.fast, book, bridge=self.bridge, reason=f"{self.large} first")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hedged:
    """One tier, and a hedge request to it when the first request is later than nearly all earlier ones.

    The delay is the tier's own quantile, so that few requests are doubled. An allowance limits them, so that an outage,
    in which every request is late, does not double the load.
    """

    tier: str
    share: float = 0.95
    """The share of requests that should not be doubled, 0 to 1."""
    bridge: bool = True
    name: str = "hedged"
    judged: str | None = None

    @property
    def tiers(self) -> tuple[str, ...]:
        """Its only one."""
        return (self.tier,)

    def plan(self, book: TierStatistics, request: TurnInfo = ANY_TURN) -> Plan:
        """Ask the tier; again after its quantile, if the allowance has a token."""
        if not book.hedges.allows:
            return Plan(
                policy=self.name, reason="no second request is allowed now", first=(self.tier,), retries=0,
                bridge=self.bridge, leads=book.leads(),
            )  # fmt: skip
        measured = book.quantile(self.tier, self.share)
        return Plan(
            policy=self.name, reason="hedged", first=(self.tier,), rescue=self.tier, hedge=True, retries=0,
            rescue_delay=book.p95(self.tier) if measured is None else measured, bridge=self.bridge, leads=book.leads(),
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """Both tiers are asked at once; the large one is preferred until just before the deadline."""

    large: str
    fast: str
    bridge: bool = True
    name: str = "race"
    judged: str | None = None

    @property
    def tiers(self) -> tuple[str, ...]:
        """Large, fast."""
        return self.large, self.fast

    def plan(self, book: TierStatistics, request: TurnInfo = ANY_TURN) -> Plan:
        """Ask both."""
        return Plan(
            policy=self.name,
            reason="both at once",
            first=self.tiers,
            fast=self.fast,
            fast_p95=book.p95(self.fast),
            second_delay=second_delay(self.fast, book),
            bridge=self.bridge,
            leads=book.leads(),
        )


def large_first(name: str, large: str, fast: str, book: TierStatistics, *, bridge: bool, reason: str) -> Plan:
    """Ask the large tier, and the fast one as late as it can still make the deadline."""
    return Plan(
        policy=name, reason=reason, first=(large,), rescue=fast, fast=fast, fast_p95=book.p95(fast),
        second_delay=second_delay(fast, book), bridge=bridge, leads=book.leads(),
    )  # fmt: skip


def second_delay(fast: str, book: TierStatistics) -> float | None:
    """How late the fast tier must be to be asked once more; None when the allowance is used up."""
    return book.p95(fast) if book.hedges.allows else None
