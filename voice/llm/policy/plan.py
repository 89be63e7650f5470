"""The plan of a turn, and the rules that carry out every plan. Pure: time is passed in.

A plan says which tiers are asked first, which tier rescues the turn, and when. The rest is the same for all policies.
The preferred tier's text is awaited until just before the deadline; then any tier that is ready is spoken. When none
is, a filler phrase is said. When an answer stalls, another tier continues it from what was heard.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from latency.record.llm.answer import PhraseKind
from voice.llm.policy.situation import Attempt, Decision, Situation, Start

HOLD_GUARD = 0.02
"""Seconds before the deadline at which waiting for the preferred tier ends, since the event loop may run late."""
DELAY_AFTER = 2.45
"""Seconds from the commit to the sentence that admits a delay, so that it is said by 2.5 s."""
ANSWER_PATIENCE = 8.0
"""Seconds after the commit at which waiting for an answer ends."""
STALL_PATIENCE = 3.0
"""Seconds of silence inside an answer after which its rest is given up."""
CONTINUATIONS = 2
"""How many requests may continue a stalled answer."""
CONTINUATION_LEAD = 0.5
"""The earliest request for a continuation, in seconds before playout runs dry: a slow stream may still recover."""
UNKNOWN_LEAD = 0.33
"""How many seconds before an instant to ask a tier without statistics."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Which tiers are asked in one turn, and when."""

    policy: str
    reason: str
    """Why this plan was made; one clause, for the record."""
    first: tuple[str, ...]
    """Tiers that are asked at once, the preferred one first."""
    rescue: str | None = None
    """The tier that is asked when the first are late or have failed."""
    rescue_delay: float | None = None
    """Ask it this many seconds after the first request; None: as late as it can still make the deadline."""
    fast: str | None = None
    """The tier that the deadline must leave time for; None when there is none."""
    hedge: bool = False
    """Whether the rescue request uses the hedging allowance."""
    second_delay: float | None = None
    """Ask the fast tier once more when its request has failed, or is later than this (seconds) with the deadline near;
    paid for from the hedging allowance. None: that is used up."""
    retries: int = 1
    """How many further requests are made when all have failed."""
    bridge: bool = True
    """Whether filler phrases are said while no answer is ready."""
    leads: Mapping[str, float] = field(default_factory=dict)
    """How long before an instant each tier is to be asked, seconds; see `TierBook.lead`."""
    fast_p95: float | None = None
    """95th percentile of the fast tier in seconds, the basis of the deadline's floor."""

    @property
    def floor_tier(self) -> str:
        """The tier that a deadline must leave time for: the fast one, or a lone one.

        Nothing could answer sooner than a lone tier, so a turn that other stages have delayed does not make it late.
        """
        return self.fast if self.fast is not None and self.fast_p95 is not None else self.first[0]

    def without(self, down: frozenset[str]) -> "Plan":
        """The plan without tiers that cannot answer; the same plan when no tier would be left."""
        asked = [*self.first, *([self.rescue] if self.rescue else [])]
        gone = [tier for tier in asked if tier in down]
        left = tuple(tier for tier in self.first if tier not in down)
        rescue = self.rescue if self.rescue not in down else None
        if not gone or not (left or rescue):
            return self
        reason = f"{', '.join(dict.fromkeys(gone))} refuses to serve"
        fast_p95 = self.fast_p95 if self.fast not in down else None
        if not left and rescue:
            return replace(self, reason=reason, first=(rescue,), rescue=None, fast_p95=fast_p95)
        return replace(self, reason=reason, first=left, rescue=rescue, fast_p95=fast_p95)

    def decide(self, s: Situation) -> Decision:
        """The next steps of a turn."""
        return self._choose(s) if s.speaking is None else self._follow(s, s.attempts[s.speaking])

    def _choose(self, s: Situation) -> Decision:
        """Decide while no attempt is spoken yet."""
        hold_at = None if s.deadline is None else s.deadline.at - HOLD_GUARD
        prefer_until = None if s.deadline is None else s.deadline.hold_until - HOLD_GUARD
        running = [a for a in s.attempts if a.running and a.ready is None]
        ready = sorted((a for a in s.attempts if a.ready is not None and a.outcome != "cancelled"), key=self._order)
        sound = [a for a in ready if a.outcome != "failed"]
        if best := next(iter(sound or ([] if running else ready)), None):
            awaited = [a for a in running if self._rank(a) < self._rank(best)]
            if not awaited or (prefer_until is not None and s.now >= prefer_until):
                return Decision(speak=best.number, cancel=_others(s, best))
        starts = self._starts(s, idle=not running and not ready)
        if s.commit is None or hold_at is None:
            return Decision(start=starts, wake_at=_next(s.now, self._rescue_at(s), prefer_until))
        if s.now >= s.commit + ANSWER_PATIENCE or not (running or ready or starts):
            return Decision(give_up=True, cancel=_others(s, None))
        wakes = [self._rescue_at(s), self._second_at(s), prefer_until, hold_at, s.commit + ANSWER_PATIENCE]
        say: PhraseKind | None = None
        if self.bridge:
            wakes.append(s.commit + DELAY_AFTER)
            if s.now >= s.commit + DELAY_AFTER:
                say = "delay" if s.held < 2 else None
            elif s.now >= hold_at:
                say = "hold" if s.held < 1 else None
        return Decision(start=starts, say=say, wake_at=_next(s.now, *wakes))

    def _starts(self, s: Situation, *, idle: bool) -> tuple[Start, ...]:
        """Requests that are due; `idle` says that no attempt runs or has anything to say."""
        if not s.attempts:
            return tuple(Start(tier=tier) for tier in self.first)
        if self.rescue is not None and not self._rescued(s):
            at = self._rescue_at(s)
            if idle or (at is not None and s.now >= at):
                return (Start(tier=self.rescue, hedge=self.hedge),)
        second_at = self._second_at(s)
        if self.fast is not None and second_at is not None and s.now >= second_at:
            return (Start(tier=self.fast, hedge=True),)
        retried = len(s.attempts) - len(self.first) - self._rescued(s)
        if idle and s.commit is not None and retried < self.retries:
            return (Start(tier=self.rescue or self.first[-1]),)
        return ()

    def _rescued(self, s: Situation) -> bool:
        """Whether the rescue was asked; it may be the tier that was asked first."""
        return sum(a.tier == self.rescue for a in s.attempts) > self.first.count(self.rescue or "")

    def _rescue_at(self, s: Situation) -> float | None:
        if self.rescue is None or not s.attempts or self._rescued(s):
            return None
        if self.rescue_delay is not None:
            return s.attempts[0].request + self.rescue_delay
        return None if s.deadline is None else s.deadline.at - self._lead(self.rescue)

    def _second_at(self, s: Situation) -> float | None:
        """When the fast tier is asked once more: its request is unusually late, and the deadline is at risk."""
        asked = [a for a in s.attempts if a.tier == self.fast]
        if self.fast is None or self.second_delay is None or len(asked) != 1 or s.commit is None or s.deadline is None:
            return None
        if asked[0].ready is not None:
            return None
        if asked[0].outcome == "failed":
            return s.now
        return max(asked[0].request + self.second_delay, s.deadline.at - self._lead(self.fast))

    def _follow(self, s: Situation, spoken: Attempt) -> Decision:
        """Decide while an attempt is spoken: its next clause must come before playout runs dry."""
        if spoken.outcome == "complete":
            return Decision(cancel=_others(s, spoken))
        mine = [a for a in s.attempts if a.continues == spoken.number]
        # A request that was made before the latest clause would say it again.
        stale = tuple(a.number for a in mine if a.running and a.heard != spoken.clauses)
        going_on = next(
            (a for a in mine if a.heard == spoken.clauses and a.outcome not in ("failed", "cancelled")), None
        )
        failed = spoken.outcome == "failed"
        if s.dry_at is not None and s.now >= s.dry_at + STALL_PATIENCE:
            return Decision(give_up=True, cancel=_others(s, None))
        give_up_at = None if s.dry_at is None else s.dry_at + STALL_PATIENCE
        if going_on is not None:
            switch_at = None if s.dry_at is None else s.dry_at - HOLD_GUARD
            due = failed or (switch_at is not None and s.now >= switch_at)
            if going_on.ready is not None and due:
                return Decision(speak=going_on.number, cancel=_others(s, going_on))
            return Decision(cancel=stale, wake_at=_next(s.now, switch_at, give_up_at))
        tier = self._successor(s, spoken)
        due_at = None if s.dry_at is None else s.dry_at - min(self._lead(tier), CONTINUATION_LEAD)
        if failed or (due_at is not None and s.now >= due_at):
            if sum(a.continues is not None for a in s.attempts) < CONTINUATIONS:
                return Decision(cancel=stale, start=(Start(tier=tier, continues=spoken.number),), wake_at=give_up_at)
            if failed:
                return Decision(give_up=True, cancel=_others(s, None))
        return Decision(cancel=stale, wake_at=_next(s.now, due_at, give_up_at))

    def _lead(self, tier: str) -> float:
        return self.leads.get(tier, UNKNOWN_LEAD)

    def _successor(self, s: Situation, spoken: Attempt) -> str:
        """The tier that continues a stalled answer: one that has not failed at it yet, and of those the quickest."""
        failures = [spoken.tier, *(a.tier for a in s.attempts if a.continues is not None)]
        asked = dict.fromkeys([*self.first, *([self.rescue] if self.rescue else [])])
        return min(asked, key=lambda tier: (failures.count(tier), self._lead(tier)))

    def _rank(self, attempt: Attempt) -> int:
        """0 for the preferred tier."""
        return self.first.index(attempt.tier) if attempt.tier in self.first else len(self.first)

    def _order(self, attempt: Attempt) -> tuple[int, float]:
        return self._rank(attempt), attempt.ready or 0.0


def _others(s: Situation, kept: Attempt | None) -> tuple[int, ...]:
    return tuple(a.number for a in s.attempts if a.running and a is not kept)


def _next(now: float, *instants: float | None) -> float | None:
    return min((at for at in instants if at is not None and at > now), default=None)
