"""Policies that look at what the caller said, or speak an opening while the answer is made."""

from dataclasses import dataclass, replace

from voice.llm.policy.plan import Plan
from voice.llm.policy.tier_statistics import TierStatistics
from voice.llm.policy.turn_info import ANY_TURN, TurnInfo
from voice.llm.routing.assess import assess
from voice.llm.routing.difficulty import Assessment, Difficulty

CALLED: dict[Difficulty, str] = {
    "reply": "a short reply",
    "repeat": "repeating",
    "command": "a small command",
    "time": "the time",
    "money": "a question of money",
    "health": "a question of health",
    "law": "a question of law",
    "numbers": "a question of numbers",
    "steps": "a task of several steps",
    "tool": "an act",
}
"""The classes as a reason names them; the others by their names."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The tier that a turn goes to, and why.

    Parameters:
        tier: its name.
        reason: one clause.
        forced: the large tier must answer, whoever answered last.
        easy: the listener can check the answer, so that the fast tier may give it.
    """

    tier: str
    reason: str
    forced: bool = False
    easy: bool = False


def choose(request: TurnInfo, *, large: str, fast: str) -> Choice | None:
    """Route a turn; None when its words are unknown, or not English.

    A careful turn goes to the large tier. Others change the tier only if it has had `SETTLED_AFTER` turns in a row.
    """
    if request.escalated:
        return Choice(large, f"{large} took the turn over", forced=True)
    if request.text is None or request.language != "en":
        return None
    found = assess(request.text, asked=request.asked, irreversible=request.irreversible)
    if found.needs_care:
        return Choice(large, f"{_called(found)} goes to {large}", forced=True)
    wanted = fast if found.is_checkable else large
    if kept := request.route.keeps(wanted):
        return Choice(kept, f"{_called(found)} stays with {kept}, which answered before", easy=found.is_checkable)
    return Choice(wanted, f"{_called(found)} goes to {wanted}", easy=found.is_checkable)


def careful(name: str, large: str, fast: str, book: TierStatistics, *, bridge: bool, choice: Choice) -> Plan:
    """The large tier answers however long it takes; the fast one only if that fails twice."""
    return Plan(
        policy=name, reason=choice.reason, first=(large,), rescue=fast, rescued="failed twice", fast=fast,
        fast_p95=book.p95(fast), bridge=bridge, leads=book.leads(), escalation=large, route=large,
    )  # fmt: skip


def opened(plan: Plan, fast: str, book: TierStatistics) -> Plan:
    """The plan with an opening in the fast tier's words; a plan that says no phrases stays as it is."""
    return replace(plan, opener=fast, usual=book.quantile(plan.first[0], 0.5)) if plan.bridge else plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Routed:
    """The tier that a turn needs answers it, by the caller's words; the other one only when that fails.

    What the listener can check at once goes to the fast tier, everything else to the large one. See
    `voice.llm.routing`.
    """

    large: str
    fast: str
    bridge: bool = True
    name: str = "routed"
    judged: str | None = None

    @property
    def tiers(self) -> tuple[str, ...]:
        """Large, fast."""
        return self.large, self.fast

    def plan(self, book: TierStatistics, request: TurnInfo = ANY_TURN) -> Plan:
        """Ask the tier that the turn needs."""
        choice = choose(request, large=self.large, fast=self.fast)
        if choice is None or choice.forced:
            choice = choice or Choice(self.large, f"{self.large} first")
            plan = careful(self.name, self.large, self.fast, book, bridge=self.bridge, choice=choice)
            return plan if choice.forced else replace(plan, route=None)
        other = self.fast if choice.tier == self.large else self.large
        return Plan(
            policy=self.name, reason=choice.reason, first=(choice.tier,), rescue=other, rescued="failed",
            fast=self.fast, fast_p95=book.p95(self.fast), bridge=self.bridge, leads=book.leads(),
            escalation=self.large, route=choice.tier,
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Relay:
    """The large tier answers every turn; the fast one words an opening where the answer is expected late."""

    large: str
    fast: str
    bridge: bool = True
    name: str = "relay"
    judged: str | None = None

    @property
    def tiers(self) -> tuple[str, ...]:
        """Large, fast."""
        return self.large, self.fast

    def plan(self, book: TierStatistics, request: TurnInfo = ANY_TURN) -> Plan:
        """Ask the fast tier for an opening, and the large one for the answer that follows it."""
        choice = Choice(self.large, f"{self.large} after an opening")
        plan = careful(self.name, self.large, self.fast, book, bridge=self.bridge, choice=choice)
        return opened(replace(plan, route=None), self.fast, book)


def _called(found: Assessment) -> str:
    return CALLED.get(found.difficulty, "an open question" if found.difficulty == "open" else found.difficulty)
