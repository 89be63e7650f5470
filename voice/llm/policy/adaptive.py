"""The usual policy of two tiers: routed by difficulty, opened, rescued, and used to how fast the tiers are."""

from dataclasses import dataclass, replace

from voice.llm.policy.plan import Plan
from voice.llm.policy.policies import large_first, second_delay
from voice.llm.policy.routed import Choice, careful, choose, opened
from voice.llm.policy.tier_statistics import TierStatistics
from voice.llm.policy.turn_info import ANY_TURN, TurnInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class Adaptive:
    """Routes each turn by the caller's words, and rescues what is late.

    What the listener can check at once, the fast tier answers. What needs care, the large tier answers, after an
    opening in the fast one's words if it is expected late. For the rest it is as `Fallback`, but does not wait for a
    large tier that is rarely in time: the fast tier then answers at once, and the large one is tried now and then.
    """

    large: str
    fast: str
    bridge: bool = True
    name: str = "adaptive"

    @property
    def tiers(self) -> tuple[str, ...]:
        """Large, fast."""
        return self.large, self.fast

    @property
    def judged(self) -> str | None:
        """The large tier."""
        return self.large

    def plan(self, book: TierStatistics, request: TurnInfo = ANY_TURN) -> Plan:
        """Ask the tier that the turn needs; an open turn asks a demoted large tier only on trial."""
        choice = choose(request, large=self.large, fast=self.fast)
        if choice is not None and choice.forced:
            plan = careful(self.name, self.large, self.fast, book, bridge=self.bridge, choice=choice)
            return opened(plan, self.fast, book)
        plan = (
            self._fast_first(book, choice.reason) if choice and choice.tier == self.fast else self._open(book, choice)
        )
        return replace(plan, escalation=self.large, route=choice.tier if choice else None)

    def _open(self, book: TierStatistics, choice: Choice | None) -> Plan:
        """A turn that is the large tier's if it is in time."""
        standing = book.standing[self.large]
        if standing.demoted and not standing.probe_due:
            return self._fast_first(book, f"{self.large} is too slow these days")
        reason = choice.reason if choice else f"{self.large} first"
        if standing.demoted:
            reason = f"{self.large} is on trial"
        return large_first(self.name, self.large, self.fast, book, bridge=self.bridge, reason=reason)

    def _fast_first(self, book: TierStatistics, reason: str) -> Plan:
        return Plan(
            policy=self.name,
            reason=reason,
            first=(self.fast,),
            rescue=self.large,
            rescue_delay=book.lead(self.fast),
            fast=self.fast,
            fast_p95=book.p95(self.fast),
            second_delay=second_delay(self.fast, book),
            bridge=self.bridge,
            leads=book.leads(),
        )
