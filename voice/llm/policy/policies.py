"""The policies: small frozen objects without state, which plan each turn."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol

from voice.llm.policy.plan import Plan
from voice.llm.policy.situation import ANY_TURN, TurnInfo
from voice.llm.policy.tier_statistics import TierStatistics
from voice.llm.routing.assess import assess
from voice.llm.routing.difficulty import Assessment, Difficulty

USUAL_CANDIDATES = 3
"""Default number of candidates: the fewest that can have a majority."""
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
"""The wording of difficulty classes in a reason; other classes use their own names."""


class Policy(Protocol):
    """Makes a fresh plan for every turn."""

    @property
    def name(self) -> str:
        """The name in a pipeline file."""
        ...

    @property
    def tiers(self) -> tuple[str, ...]:
        """All tiers that it may ask."""
        ...

    @property
    def judged(self) -> str | None:
        """The tier that is demoted when it is late; None if the order of the tiers is fixed."""
        ...

    def plan(self, book: TierStatistics, turn: TurnInfo = ANY_TURN) -> Plan:
        """Plan a turn that begins now, without changing the book.

        Args:
            book: how fast the tiers have been.
            turn: what is known of the turn; most policies ignore it.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Single:
    """One tier answers, however long it takes, with filler phrases. After a failure, it is asked once more."""

    tier: str
    bridge: bool = True
    name: ClassVar[str] = "single"
    judged: ClassVar[str | None] = None

    @property
    def tiers(self) -> tuple[str, ...]:
        """Its only tier."""
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
    """One tier, with a hedge request if the first request is slower than nearly all earlier ones.

    The delay is the tier's own quantile, so few requests are doubled. An allowance limits them, so an outage, in which
    every request is late, does not double the load.
    """

    share: float = 0.95
    """The share of requests that need no hedge, 0 to 1."""
    name: ClassVar[str] = "hedged"

    def plan(self, book: TierStatistics, turn: TurnInfo = ANY_TURN) -> Plan:
        """Ask the tier, and again after its quantile if the allowance has a token."""
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
        """None: the order of the tiers is fixed."""
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
        """Ask the fast tier, and the large one once the fast one's tail has passed."""
        plan = self.large_first(book, reason)
        return replace(plan, first=(self.fast,), rescue=self.large, rescue_delay=book.lead(self.fast))

    def large_only(self, book: TierStatistics, reason: str) -> Plan:
        """The large tier answers however long it takes; the fast one only if the large one fails twice."""
        plan = self.large_first(book, reason)
        return replace(plan, rescued="failed twice", escalation=self.large)

    def opened(self, plan: Plan, book: TierStatistics) -> Plan:
        """The plan with an opening in the fast tier's words; a plan without phrases stays unchanged."""
        return replace(plan, opener=self.fast, usual=book.quantile(plan.first[0], 0.5)) if plan.bridge else plan

    def second_delay(self, book: TierStatistics) -> float | None:
        """The delay after which the fast tier is asked once more; None if the allowance is used up."""
        return book.p95(self.fast) if book.hedges.allows else None

    def route(self, turn: TurnInfo) -> "Choice | None":
        """Choose the tier by the caller's words; None if they are unknown or not English.

        A careful turn goes to the large tier. Other turns change tiers only after `SETTLED_AFTER` turns with the same
        one.
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
    """The tier chosen for a turn, and why.

    Parameters:
        tier: its name.
        reason: one clause.
        forced: whether the large tier must answer, regardless of the previous turn.
    """

    tier: str
    reason: str
    forced: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Fallback(TwoTierPolicy):
    """The large tier answers; the fast one is asked as late as the deadline allows.

    The fast tier is asked its measured tail and a guard before the deadline; see `TierStatistics.lead`. If it then
    exceeds its 95th percentile, or fails, it is asked once more: two requests are rarely both slow. The hedging
    allowance limits such requests, so an outage of the fast tier does not double its load. `Race` and `Adaptive` do the
    same.
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
    """The default policy for two tiers: routes each turn by the caller's words, and rescues late answers.

    The fast tier answers turns whose answer the listener can check at once. The large tier answers turns that need
    care, after an opening by the fast one if it is expected to be late. Other turns are planned as by `Fallback`,
    except that a large tier that is rarely in time is demoted: the fast tier then answers at once, and the large one is
    tried now and then.
    """

    name: ClassVar[str] = "adaptive"

    @property
    def judged(self) -> str | None:
        """The large tier."""
        return self.large

    def plan(self, book: TierStatistics, turn: TurnInfo = ANY_TURN) -> Plan:
        """Ask the tier that the turn needs; in other turns, ask a demoted large tier only on trial."""
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
    """Each turn goes to the tier that it needs, by the caller's words; the other one answers only after a failure.

    Turns whose answer the listener can check at once go to the fast tier, all others to the large one. See
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
    """The large tier answers every turn; the fast one words an opening if the answer is expected to be late."""

    name: ClassVar[str] = "relay"

    def plan(self, book: TierStatistics, turn: TurnInfo = ANY_TURN) -> Plan:
        """Ask the fast tier for an opening, and the large one for the answer after it."""
        return self.opened(self.large_only(book, f"{self.large} after an opening"), book)


@dataclass(frozen=True, slots=True, kw_only=True)
class FastFirst(TwoTierPolicy):
    """The fast tier answers every turn; the large one steps in if it is late, fails or gives nothing usable."""

    name: ClassVar[str] = "best_of"

    def plan(self, book: TierStatistics, turn: TurnInfo = ANY_TURN) -> Plan:
        """Ask the fast tier first."""
        return replace(self.fast_first(book, f"{self.fast} first"), escalation=self.large)


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftVerify(TwoTierPolicy):
    """The fast tier drafts every answer; the large one verifies the draft before its second sentence is spoken.

    The draft's first sentence is spoken as soon as it is ready, as with any policy. Once the draft is whole, the large
    tier is asked whether it is right. The other sentences wait for the verdict, at most until the first has been
    played. A draft found wrong has failed: the large tier answers in its place, or continues from the words heard (see
    `Plan`).
    """

    name: ClassVar[str] = "draft_verify"

    def plan(self, book: TierStatistics, turn: TurnInfo = ANY_TURN) -> Plan:
        """Ask the fast tier; ask the large one for a verdict, or for the answer once the fast one's tail has passed."""
        plan = self.fast_first(book, f"{self.fast} drafts, {self.large} verifies")
        return replace(plan, escalation=self.large, verifier=self.large)


@dataclass(frozen=True, slots=True, kw_only=True)
class BestOf:
    """Another policy with several candidates for the answers of one tier.

    The tier is asked several times. `Plan` waits until most candidates agree, until all have ended, or until just
    before the deadline, and speaks the candidate with the most agreement; see `voice.llm.candidates`. Turns of another
    tier, or with a race, stay unchanged.
    """

    inner: Policy
    tier: str
    """The tier that is asked several times."""
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
        """The other policy's plan, with several first requests if there is only one and it goes to the tier."""
        plan = self.inner.plan(book, turn)
        if plan.first != (self.tier,) or plan.opener is not None:
            return plan
        reason = f"{plan.reason}; the best of {self.candidates}"
        return replace(plan, first=(self.tier,) * self.candidates, reason=reason, second_delay=None)


def within_rate_limits(plan: Plan, room: Mapping[str, int]) -> Plan:
    """The plan with no more candidates than their tier's rate limits allow; its reason mentions a reduction.

    Args:
        plan: a turn's.
        room: the number of further requests within each tier's limits, if known.
    """
    asked, left = len(plan.first), room.get(plan.first[0])
    if asked < 2 or len(set(plan.first)) > 1 or left is None or left >= asked:
        return plan
    fewer = max(1, left)
    reason = f"{plan.reason}, but {fewer}: the rate limit of {plan.first[0]} is nearly used up ({left} left)"
    return replace(plan, first=plan.first[:fewer], reason=reason)


def _name(found: Assessment) -> str:
    return NAMES.get(found.difficulty, found.difficulty)
