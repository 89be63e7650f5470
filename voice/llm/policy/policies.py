"""The policies: small frozen objects that make a turn's plan, and hold no state of their own."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol

from voice.llm.policy.plan import Plan
from voice.llm.policy.situation import ANY_TURN, TurnInfo
from voice.llm.policy.tier_statistics import TierStatistics
from voice.llm.routing.assess import assess
from voice.llm.routing.difficulty import Assessment, Difficulty

USUAL_CANDIDATES = 3
"""Candidates unless set: the fewest that can have a majority."""
NAMES: dict[Difficulty, str] = {
    "reply": "a short reply",
    "repeat": "repeating",
    "command": "a small command",
    "time": "the time",
    "open": "an open question",
    "money": "a question of money",
    "health": "a question of health",
    "law": "a question of law",
    "numbers": "a question of numbers",
    "steps": "a task of several steps",
    "tool": "an act",
}
"""The classes as a reason names them; the others by their names."""


class Policy(Protocol):
    """Makes a fresh plan for every turn."""

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

    def plan(self, book: TierStatistics, turn: TurnInfo = ANY_TURN) -> Plan:
        """The plan of a turn that begins now; the book stays as it is.

        Args:
            book: how fast the tiers have been.
            turn: what is known of it; most policies need nothing of that.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Single:
    """One tier answers, however long it takes; phrases bridge. It is asked once more when it failed."""

    tier: str
    bridge: bool = True
    name: ClassVar[str] = "single"
    judged: ClassVar[str | None] = None

    @property
    def tiers(self) -> tuple[str, ...]:
        """Its only one."""
        return (self.tier,)

    def plan(self, book: TierStatistics, turn: TurnInfo = ANY_TURN) -> Plan:
        """Ask the tier."""
        reason = "no other tier is asked"
        return Plan(
            policy=self.name,
            reason=reason,
            first=self.tiers,
            bridge=self.bridge,
            leads=book.leads(),
            waits=book.waits(),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Hedged(Single):
    """One tier, and a hedge request to it when the first request is later than nearly all earlier ones.

    The delay is the tier's own quantile, so that few requests are doubled. An allowance limits them, so that an outage,
    in which every request is late, does not double the load.
    """

    share: float = 0.95
    """The share of requests that should not be doubled, 0 to 1."""
    name: ClassVar[str] = "hedged"

    def plan(self, book: TierStatistics, turn: TurnInfo = ANY_TURN) -> Plan:
        """Ask the tier; again after its quantile, if the allowance has a token."""
        alone = replace(Single.plan(self, book), reason="no second request is allowed now", retries=0)
        if not book.hedges.allows:
            return alone
        measured = book.quantile(self.tier, self.share)
        delay = book.p95(self.tier) if measured is None else measured
        return replace(alone, reason="hedged", rescue=self.tier, hedge=True, rescue_delay=delay)


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoTierPolicy:
    """A large tier, which answers best, and a fast one."""

    large: str
    fast: str
    bridge: bool = True
    name: ClassVar[str]

    @property
    def tiers(self) -> tuple[str, ...]:
        """Large, fast."""
        return self.large, self.fast

    @property
    def judged(self) -> str | None:
        """None: the tier that is asked first is fixed."""
        return None

    def large_first(self, book: TierStatistics, reason: str) -> Plan:
        """Ask the large tier, and the fast one as late as it can still make the deadline."""
        return Plan(
            policy=self.name,
            reason=reason,
            first=(self.large,),
            rescue=self.fast,
            fast=self.fast,
            bridge=self.bridge,
            leads=book.leads(),
            waits=book.waits(),
        )

    def fast_first(self, book: TierStatistics, reason: str) -> Plan:
        """Ask the fast tier, and the large one when the fast one's tail has passed."""
        plan = self.large_first(book, reason)
        return replace(plan, first=(self.fast,), rescue=self.large, rescue_delay=book.lead(self.fast))

    def large_only(self, book: TierStatistics, reason: str) -> Plan:
        """The large tier answers however long it takes; the fast one only if that fails twice."""
        plan = self.large_first(book, reason)
        return replace(plan, rescued="failed twice", escalation=self.large)

    def opened(self, plan: Plan, book: TierStatistics) -> Plan:
        """The plan with an opening in the fast tier's words; a plan that says no phrases stays as it is."""
        return replace(plan, opener=self.fast, usual=book.quantile(plan.first[0], 0.5)) if plan.bridge else plan

    def second_delay(self, book: TierStatistics) -> float | None:
        """How late the fast tier must be to be asked once more; None when the allowance is used up."""
        return book.p95(self.fast) if book.hedges.allows else None

    def route(self, turn: TurnInfo) -> "Choice | None":
        """Choose the tier by the caller's words; None when these are unknown, or not English.

        A careful turn goes to the large tier. Others change the tier only if it has had `SETTLED_AFTER` turns in a row.
        """
        if turn.escalated:
            return Choice(self.large, f"{self.large} took the turn over", forced=True)
        if turn.text is None or turn.language != "en":
            return None
        found = assess(turn.text, asked=turn.asked, irreversible=turn.irreversible)
        if found.needs_care:
            return Choice(self.large, f"{_name(found)} goes to {self.large}", forced=True)
        wanted = self.fast if found.is_checkable else self.large
        if kept := turn.route.keeps(wanted):
            return Choice(kept, f"{_name(found)} stays with {kept}, which answered before")
        return Choice(wanted, f"{_name(found)} goes to {wanted}")


@dataclass(frozen=True, slots=True)
class Choice:
    """The tier that a turn goes to, and why.

    Parameters:
        tier: its name.
        reason: one clause.
        forced: the large tier must answer, whoever answered last.
    """

    tier: str
    reason: str
    forced: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Fallback(TwoTierPolicy):
    """The large tier answers; the fast one is asked as late as it can still make the deadline.

    It is asked its measured tail and a guard before the deadline; see `TierStatistics.lead`. If the fast tier is then
    later than its 95th percentile, or fails, it is asked once more: two requests are rarely both slow. The hedging
    allowance limits such requests, so that an outage of the fast tier does not double its load. `Race` and `Adaptive`
    do so too.
    """

    name: ClassVar[str] = "fallback"

    def plan(self, book: TierStatistics, turn: TurnInfo = ANY_TURN) -> Plan:
        """Ask the large tier first."""
        return replace(self.large_first(book, f"{self.large} first"), second_delay=self.second_delay(book))


@dataclass(frozen=True, slots=True, kw_only=True)
class Race(TwoTierPolicy):
    """Both tiers are asked at once; the large one is preferred until just before the deadline."""

    name: ClassVar[str] = "race"

    def plan(self, book: TierStatistics, turn: TurnInfo = ANY_TURN) -> Plan:
        """Ask both."""
        plan = self.large_first(book, "both at once")
        return replace(plan, first=self.tiers, rescue=None, second_delay=self.second_delay(book))


@dataclass(frozen=True, slots=True, kw_only=True)
class Adaptive(TwoTierPolicy):
    """The usual policy of two tiers: routes each turn by the caller's words, and rescues what is late.

    What the listener can check at once, the fast tier answers. What needs care, the large tier answers, after an
    opening in the fast one's words if it is expected late. For the rest it is as `Fallback`, but does not wait for a
    large tier that is rarely in time: the fast tier then answers at once, and the large one is tried now and then.
    """

    name: ClassVar[str] = "adaptive"

    @property
    def judged(self) -> str | None:
        """The large tier."""
        return self.large

    def plan(self, book: TierStatistics, turn: TurnInfo = ANY_TURN) -> Plan:
        """Ask the tier that the turn needs; an open turn asks a demoted large tier only on trial."""
        choice, standing = self.route(turn), book.standing[self.large]
        if choice is not None and choice.forced:
            return replace(self.opened(self.large_only(book, choice.reason), book), route=self.large)
        if choice is not None and choice.tier == self.fast:
            plan = self.fast_first(book, choice.reason)
        elif standing.demoted and not standing.probe_due:
            plan = self.fast_first(book, f"{self.large} is too slow these days")
        elif standing.demoted:
            plan = self.large_first(book, f"{self.large} is on trial")
        else:
            plan = self.large_first(book, choice.reason if choice else f"{self.large} first")
        route = choice.tier if choice else None
        return replace(plan, second_delay=self.second_delay(book), escalation=self.large, route=route)


@dataclass(frozen=True, slots=True, kw_only=True)
class Routed(TwoTierPolicy):
    """The tier that a turn needs answers it, by the caller's words; the other one only when that fails.

    What the listener can check at once goes to the fast tier, everything else to the large one. See
    `voice.llm.routing`.
    """

    name: ClassVar[str] = "routed"

    def plan(self, book: TierStatistics, turn: TurnInfo = ANY_TURN) -> Plan:
        """Ask the tier that the turn needs."""
        choice = self.route(turn)
        if choice is None:
            return self.large_only(book, f"{self.large} first")
        plan = replace(self.large_only(book, choice.reason), route=choice.tier)
        if choice.forced:
            return plan
        other = self.fast if choice.tier == self.large else self.large
        return replace(plan, first=(choice.tier,), rescue=other, rescued="failed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Relay(TwoTierPolicy):
    """The large tier answers every turn; the fast one words an opening where the answer is expected late."""

    name: ClassVar[str] = "relay"

    def plan(self, book: TierStatistics, turn: TurnInfo = ANY_TURN) -> Plan:
        """Ask the fast tier for an opening, and the large one for the answer that follows it."""
        return self.opened(self.large_only(book, f"{self.large} after an opening"), book)


@dataclass(frozen=True, slots=True, kw_only=True)
class FastFirst(TwoTierPolicy):
    """The fast tier answers every turn; the large one when that is late, fails or has nothing that could be used."""

    name: ClassVar[str] = "best_of"

    def plan(self, book: TierStatistics, turn: TurnInfo = ANY_TURN) -> Plan:
        """Ask the fast tier first."""
        return replace(self.fast_first(book, f"{self.fast} first"), escalation=self.large)


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftVerify(TwoTierPolicy):
    """The fast tier drafts every answer, and the large one verifies it before its second sentence is spoken.

    The first sentence of the draft is spoken as soon as it is there, as with any policy. Once the draft is whole, the
    large tier is asked whether it is right. The other sentences wait for its verdict, but no longer than until the
    first sentence has been played. A draft that was found wrong has failed: the large tier answers in its place, or
    goes on from what was heard (`Plan` does both).
    """

    name: ClassVar[str] = "draft_verify"

    def plan(self, book: TierStatistics, turn: TurnInfo = ANY_TURN) -> Plan:
        """Ask the fast tier; the large one for a verdict, or for the answer when the fast one's tail has passed."""
        plan = self.fast_first(book, f"{self.fast} drafts, {self.large} verifies")
        return replace(plan, escalation=self.large, verifier=self.large)


@dataclass(frozen=True, slots=True, kw_only=True)
class BestOf:
    """Another policy, whose answers from one tier are picked from several candidates.

    The tier is asked several times. `Plan` waits until most candidates agree, until all have ended, or until just
    before the deadline, and speaks the one that most others agree with; see `voice.llm.ensemble`. A turn that another
    tier answers, or that two tiers race for, stays as it is.
    """

    inner: Policy
    tier: str
    """The tier whose answers are drafted several times."""
    candidates: int = USUAL_CANDIDATES

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

    def plan(self, book: TierStatistics, turn: TurnInfo = ANY_TURN) -> Plan:
        """The other policy's plan, with several first requests where there is one, to the tier."""
        plan = self.inner.plan(book, turn)
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


def _name(found: Assessment) -> str:
    return NAMES.get(found.difficulty, found.difficulty)
