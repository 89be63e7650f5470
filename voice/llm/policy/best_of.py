"""Several drafts from one tier at once: a policy of its own, and what makes candidates of another policy's plan. Pure.

The plan asks the tier N times. `Plan` waits until most candidates agree, until all have ended, or until just before
the deadline, and speaks the one that most others agree with; see `voice.llm.ensemble`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from voice.llm.policy.plan import Plan
from voice.llm.policy.policies import Policy
from voice.llm.policy.tier_statistics import TierStatistics
from voice.llm.policy.turn_info import ANY_TURN, TurnInfo

USUAL = 3
"""Candidates unless set: the fewest that can have a majority."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FastFirst:
    """The fast tier answers every turn; the large one when that is late, fails or has nothing that could be used."""

    large: str
    fast: str
    bridge: bool = True
    name: str = "best_of"
    judged: str | None = None

    @property
    def tiers(self) -> tuple[str, ...]:
        """Large, fast."""
        return self.large, self.fast

    def plan(self, book: TierStatistics, request: TurnInfo = ANY_TURN) -> Plan:
        """Ask the fast tier; the large one when its tail has passed."""
        return Plan(
            policy=self.name,
            reason=f"{self.fast} first",
            first=(self.fast,),
            rescue=self.large,
            rescue_delay=book.lead(self.fast),
            fast=self.fast,
            fast_p95=book.p95(self.fast),
            bridge=self.bridge,
            leads=book.leads(),
            escalation=self.large,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BestOf:
    """Another policy, whose answers from one tier are picked from several candidates.

    A turn that another tier answers, or that two tiers race for, stays as it is.
    """

    inner: Policy
    tier: str
    """The tier whose answers are drafted several times."""
    candidates: int = USUAL

    @property
    def name(self) -> str:
        """The other policy's."""
        return self.inner.name

    @property
    def tiers(self) -> tuple[str, ...]:
        """The other policy's."""
        return self.inner.tiers

    @property
    def judged(self) -> str | None:
        """The other policy's."""
        return self.inner.judged

    def plan(self, book: TierStatistics, request: TurnInfo = ANY_TURN) -> Plan:
        """The other policy's plan, with several first requests where there is one, to the tier."""
        plan = self.inner.plan(book, request)
        if plan.first != (self.tier,) or plan.opener is not None:
            return plan
        reason = f"{plan.reason}; the best of {self.candidates}"
        return replace(plan, first=(self.tier,) * self.candidates, reason=reason, second_delay=None)


def within_rate_limits(plan: Plan, room: Mapping[str, int]) -> Plan:
    """The plan with no more candidates than their tier's rate limits leave room for, which its reason then says.

    Args:
        plan: a turn's.
        room: how many more requests a tier's limits allow, where that is known.
    """
    asked, left = len(plan.first), room.get(plan.first[0])
    if asked < 2 or len(set(plan.first)) > 1 or left is None or left >= asked:
        return plan
    fewer = max(1, left)
    reason = f"{plan.reason}, but {fewer}: the rate limit of {plan.first[0]} is nearly used up ({left} left)"
    return replace(plan, first=plan.first[:fewer], reason=reason)
