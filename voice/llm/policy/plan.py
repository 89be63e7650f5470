"""The plan of a turn, and the rules that execute every plan. Pure: time is passed in.

A plan says which tiers are asked first, and which tier rescues the turn, and when. All else is common to the policies:
the preferred tier's text is awaited until just before the deadline, then any ready tier is spoken. If none is ready, a
filler phrase is said. If an answer stalls, another tier continues it from the words heard.

With an opener, that tier is asked for an opening first. The answer is requested once the opening is ready, with the
opening in its context as words already spoken; after the commit, the opening is spoken at once. If the opening is late,
or the answer is expected in time, the answer is requested without it.

With a verifier, another tier's answer is a draft: once it is complete, the verifier checks it, and the sentences after
the first wait for the verdict until the first has been played.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from voice.llm.answer.hold_phrases import DELAY_AFTER, HOLD_GUARD, LONGEST_SILENCE, due_phrase
from voice.llm.policy.situation import Decision, NewRequest, RequestState, Situation
from voice.llm.policy.tier_statistics import Wait, foreseen

ANSWER_PATIENCE = 8.0
"""Seconds after the commit at which the wait for an answer ends."""
STALL_PATIENCE = 3.0
"""Seconds of silence inside an answer after which its rest is given up."""
CONTINUATIONS = 2
"""How many requests may continue a stalled answer."""
VERDICT_PATIENCE = 0.3
"""Seconds of silence after a draft's first sentence until the wait for the verdict ends."""
CONTINUATION_LEAD = 0.5
"""The earliest request for a continuation, in seconds before playout runs dry: a slow stream may still recover."""
UNKNOWN_LEAD = 0.33
"""Seconds before an instant at which to ask a tier without statistics."""

Rescued = Literal["late", "failed", "failed twice"]
"""The condition of the rescue: the first tier is late or has failed; it has failed; or it has failed twice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Which tiers are asked in one turn, and when."""

    policy: str
    reason: str
    """The reason for this plan, one clause, for the record."""
    first: tuple[str, ...]
    """The tiers asked at once, the preferred one first."""
    rescue: str | None = None
    """The tier asked when the first ones are late or have failed."""
    rescued: Rescued = "late"
    """The condition of the rescue."""
    rescue_delay: float | None = None
    """Seconds from the first request to the rescue; None: as late as the deadline allows."""
    fast: str | None = None
    """The tier that the deadline must leave time for; None without one."""
    hedge: bool = False
    """Whether the rescue request uses the hedging allowance."""
    second_delay: float | None = None
    """Ask the fast tier once more, from the hedging allowance, if its request has failed, or takes longer than this
    (seconds) with the deadline near. None if the allowance is used up."""
    retries: int = 1
    """The number of further requests when all have failed."""
    bridge: bool = True
    """Whether filler phrases are said while no answer is ready."""
    leads: Mapping[str, float] = field(default_factory=dict)
    """How long before an instant each tier is to be asked, seconds; see `TierStatistics.lead`."""
    waits: Mapping[str, Sequence[Wait]] = field(default_factory=dict)
    """How long each tier's recent requests took, where enough are known; see `foreseen`."""
    opener: str | None = None
    """The tier that words an opening when the first tier is expected to be late; None for no opening."""
    usual: float | None = None
    """The first tier's usual response time, seconds; None if unknown, when it is assumed to be late."""
    escalation: str | None = None
    """The tier that takes over after another one has called a tool that it may not call."""
    verifier: str | None = None
    """The tier that verifies another tier's answers; None without verification."""
    route: str | None = None
    """The tier chosen for the turn's difficulty; None for a policy that does not route."""

    @property
    def floor_tier(self) -> str:
        """The tier that a deadline must leave time for: the fast one, or a lone one.

        Nothing could answer sooner than a lone tier, so delays by other stages do not count against it.
        """
        return self.fast if self.fast is not None and self.fast in (*self.first, self.rescue) else self.first[0]

    @property
    def preferred(self) -> str | None:
        """The better tier, asked before the fast one; None for a plan without such a pair."""
        return self.first[0] if self.fast is not None and self.fast not in self.first[:1] else None

    def failing_over(self, mostly_wrong: str) -> "Plan":
        """The plan in which this tier, whose answers are mostly wrong, answers only after the others have failed."""
        others = tuple(tier for tier in dict.fromkeys((*self.first, self.rescue)) if tier not in (None, mostly_wrong))
        if not others or mostly_wrong not in (*self.first, self.rescue):
            return self
        return replace(
            self,
            reason=f"{mostly_wrong} is mostly wrong, and answers only if {others[0]} fails",
            first=(others[0],),
            rescue=mostly_wrong,
            rescued="failed",
            fast=None,
            second_delay=None,
            opener=None,
            verifier=None,
        )

    def without(self, down: frozenset[str]) -> "Plan":
        """The plan without tiers that cannot answer; unchanged if no tier would be left."""
        asked = [*self.first, *([self.rescue] if self.rescue else [])]
        gone = [tier for tier in asked if tier in down]
        left = tuple(tier for tier in self.first if tier not in down)
        rescue = self.rescue if self.rescue not in down else None
        if not gone or not (left or rescue):
            return self
        names = ", ".join(dict.fromkeys(gone))
        reason = f"{names} is not asked for now: it refused lately, or its limits are nearly used up"
        verifier = self.verifier if self.verifier not in down else None
        first, opener = left, self.opener if self.opener not in down else None
        if not left and rescue:
            first, rescue, opener = (rescue,), None, None
        return replace(self, reason=reason, first=first, rescue=rescue, opener=opener, verifier=verifier)

    def drafts(self, start: NewRequest) -> bool:
        """Whether a request drafts an answer to be verified."""
        return self.verifier not in (None, start.tier) and not start.opens and start.continues is None

    def decide(self, s: Situation) -> Decision:
        """The next steps of a turn."""
        if s.speaking is None:
            return self._choose(s)
        spoken = s.requests[s.speaking]
        return self._review(s, spoken) if spoken.reviewed and spoken.running else self._follow(s, spoken)

    def _choose(self, s: Situation) -> Decision:
        """Decide while no request is being spoken."""
        hold_at = None if s.deadline is None else s.deadline.at - HOLD_GUARD
        prefer_until = None if s.deadline is None else s.deadline.hold_until - HOLD_GUARD
        answers, opening = _answers(s), _opening(s)
        followed = _followed(s)
        # An answer that is ready when the turn ends is not delayed by an opening.
        in_time = s.commit is not None and any(_can_be_spoken(a) for a in answers)
        if followed is not None and not s.held and not in_time:
            if s.commit is None:
                # An answer cannot precede its opening, and nothing is said during a turn that may go on.
                starts = self._starts(s, idle=not any(a.running or a.ready is not None for a in answers))
                return Decision(start=starts, wake_at=_next(s.now, self._rescue_at(s)))
            return Decision(say="opening", wake_at=s.now)
        running = [a for a in answers if a.running and a.ready is None]
        ready = [a for a in answers if a.ready is not None and a.outcome != "cancelled" and not a.overreached]
        ready.sort(key=self._order)
        usable = [a for a in ready if a.dismissed is None]
        sound = [a for a in usable if _can_be_spoken(a)]
        if best := next(iter(sound or ([] if running else usable)), None):
            awaited = [a for a in running if self._rank(a) < self._rank(best)] or self._undecided(answers, best)
            if not awaited or (prefer_until is not None and s.now >= prefer_until):
                return Decision(speak=best.number, cancel=_others(s, best))
        starts = self._starts(s, idle=not running and not usable)
        if ready and s.commit is not None and not (usable or running or starts):
            # Candidates that should not be spoken are still better than nothing.
            return Decision(speak=ready[0].number, cancel=_others(s, ready[0]))
        # Once the answer is requested, the rest of the opening is useless.
        cancel = (opening.number,) if opening is not None and opening.running and (answers or starts) else ()
        opens_at = self._opening_until(s, opening)
        if s.commit is None or hold_at is None:
            wake_at = _next(s.now, self._rescue_at(s), prefer_until, opens_at)
            return Decision(start=starts, cancel=cancel, wake_at=wake_at)
        opens = opening is not None and not answers
        if s.now >= s.commit + ANSWER_PATIENCE or not (running or ready or starts or opens):
            return Decision(give_up=True, cancel=_others(s, None))
        wakes = [self._rescue_at(s), self._second_at(s), prefer_until, hold_at, s.commit + ANSWER_PATIENCE, opens_at]
        say = None
        if self.bridge:
            expected = self._expected_at(s, running)
            say = due_phrase(s.now, commit=s.commit, hold_at=hold_at, said=s.held, expected=expected)
            wakes += [expected, hold_at + LONGEST_SILENCE, s.commit + DELAY_AFTER]
        return Decision(start=starts, cancel=cancel, say=say, wake_at=_next(s.now, *wakes))

    def _expected_at(self, s: Situation, running: Sequence[RequestState]) -> float | None:
        """When the first of the running requests should have a clause, by its tier's statistics; None if unknown."""
        instants = []
        for one in running:
            wait = foreseen(self.waits.get(one.tier, ()), s.now - one.request)
            if wait is not None:
                instants.append(one.request + wait)
        return min(instants, default=None)

    def _starts(self, s: Situation, *, idle: bool) -> tuple[NewRequest, ...]:
        """Requests that are due; `idle`: no answer is being generated or ready."""
        answers, opening = _answers(s), _opening(s)
        if not s.requests and self.opener is not None and self._is_expected_late(s):
            return (NewRequest(tier=self.opener, opens=True),)
        if not answers:
            return self._first_starts(s, opening)
        # While other candidates run, no other tier needs to take over.
        over = next((a for a in answers if a.overreached and (idle or a.candidate is None)), None)
        if over is not None and self.escalation is not None:
            taken = [a for a in answers if a.tier == self.escalation]
            if not any(a.running or a.ready is not None or a.number > over.number for a in taken):
                return (self._start(s, self.escalation),)
        if idle and self.rescued == "failed twice" and len(answers) == len(self.first):
            return (self._start(s, self.first[-1]),)
        if self.rescue is not None and not self._is_rescued(s):
            at = self._rescue_at(s)
            if idle or (at is not None and s.now >= at):
                return (self._start(s, self.rescue, hedge=self.hedge),)
        second_at = self._second_at(s)
        if self.fast is not None and second_at is not None and s.now >= second_at:
            return (self._start(s, self.fast, hedge=True),)
        retried = len(answers) - len(self.first) - self._is_rescued(s)
        if idle and s.commit is not None and retried < self.retries:
            return (self._start(s, self.rescue or self.first[-1]),)
        return ()

    def _first_starts(self, s: Situation, opening: RequestState | None) -> tuple[NewRequest, ...]:
        """The first requests for an answer: at once, or once the opening is ready or late."""
        if opening is not None and opening.ready is not None and not s.held:
            return self._first_requests(follows=opening.number)
        until = self._opening_until(s, opening)
        if until is not None and s.now < until and not s.held:
            return ()
        return self._first_requests()

    def _first_requests(self, follows: int | None = None) -> tuple[NewRequest, ...]:
        """One request for each of the first tiers; several to one tier are candidates."""
        voted = len(self.first) > 1 and len(set(self.first)) == 1
        return tuple(
            NewRequest(tier=tier, follows=follows, candidate=number if voted else None)
            for number, tier in enumerate(self.first)
        )

    def _undecided(self, answers: list[RequestState], best: RequestState) -> list[RequestState]:
        """The running candidates that may still change the choice: none once most of them agree."""
        if best.candidate is None or best.support * 2 > len(self.first):
            return []
        return [a for a in answers if a.candidate is not None and a.running and a.called is None]

    def _start(self, s: Situation, tier: str, *, hedge: bool = False) -> NewRequest:
        return NewRequest(tier=tier, hedge=hedge, follows=_followed(s))

    def _is_expected_late(self, s: Situation) -> bool:
        """Whether the first tier, asked now, would usually miss the deadline."""
        return self.usual is None or s.deadline is None or s.now + self.usual > s.deadline.at - HOLD_GUARD

    def _opening_until(self, s: Situation, opening: RequestState | None) -> float | None:
        """When the opening is too late; None if it is not awaited."""
        if opening is None or not opening.running or opening.ready is not None or _answers(s):
            return None
        return opening.request + self._lead(opening.tier)

    def _is_rescued(self, s: Situation) -> bool:
        """Whether the rescue has been asked; it may be the tier that was asked first."""
        return sum(a.tier == self.rescue for a in _answers(s)) > self.first.count(self.rescue or "")

    def _rescue_at(self, s: Situation) -> float | None:
        answers = _answers(s)
        if self.rescue is None or not answers or self._is_rescued(s) or self.rescued != "late":
            return None
        if self.rescue_delay is not None:
            return answers[0].request + self.rescue_delay
        return None if s.deadline is None else s.deadline.at - self._lead(self.rescue)

    def _second_at(self, s: Situation) -> float | None:
        """When to ask the fast tier once more: its request is unusually late, and the deadline is at risk."""
        asked = [a for a in _answers(s) if a.tier == self.fast]
        if self.fast is None or self.second_delay is None or len(asked) != 1 or s.commit is None or s.deadline is None:
            return None
        if asked[0].ready is not None or asked[0].overreached:
            return None
        if asked[0].outcome == "failed":
            return s.now
        return max(asked[0].request + self.second_delay, s.deadline.at - self._lead(self.fast))

    def _review(self, s: Situation, draft: RequestState) -> Decision:
        """Decide while a draft's first sentence is spoken and the others wait for the verdict."""
        asked = [a for a in s.requests if a.verifies == draft.number]
        until = None
        if s.dry_at is not None:
            # A draft that is incomplete at the end of its first sentence could be verified only in silence.
            until = s.dry_at + (VERDICT_PATIENCE if draft.drafted is not None else -HOLD_GUARD)
        if until is not None and s.now >= until:
            return Decision(release=True, cancel=tuple(a.number for a in asked if a.running))
        due = draft.drafted is not None and not asked and self.verifier is not None
        start = (NewRequest(tier=self.verifier, verifies=draft.number),) if due and self.verifier else ()
        return Decision(start=start, wake_at=_next(s.now, until))

    def _follow(self, s: Situation, spoken: RequestState) -> Decision:
        """Decide while a request is spoken: its next clause must come before playout runs dry."""
        if spoken.outcome == "complete":
            return Decision(cancel=_others(s, spoken))
        mine = [a for a in s.requests if a.continues == spoken.number]
        # A request made before the latest clause would repeat it.
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
        if spoken.introduced_until is not None:
            # The rest of the clause is expected by then.
            due_at = spoken.introduced_until
        if failed or (due_at is not None and s.now >= due_at):
            if sum(a.continues is not None for a in s.requests) < CONTINUATIONS:
                return Decision(
                    cancel=stale, start=(NewRequest(tier=tier, continues=spoken.number),), wake_at=give_up_at
                )
            if failed:
                return Decision(give_up=True, cancel=_others(s, None))
        return Decision(cancel=stale, wake_at=_next(s.now, due_at, give_up_at))

    def _lead(self, tier: str) -> float:
        return self.leads.get(tier, UNKNOWN_LEAD)

    def _successor(self, s: Situation, spoken: RequestState) -> str:
        """The tier that continues a stalled answer: the fastest of those with the fewest failures at it."""
        failures = [spoken.tier, *(a.tier for a in s.requests if a.continues is not None)]
        if spoken.overreached and self.escalation is not None:
            return self.escalation
        if self.rescued == "failed twice" and failures.count(spoken.tier) < 2:
            return spoken.tier
        asked = dict.fromkeys([*self.first, *([self.rescue] if self.rescue else [])])
        return min(asked, key=lambda tier: (failures.count(tier), self._lead(tier)))

    def _rank(self, request: RequestState) -> int:
        """0 for the preferred tier."""
        return self.first.index(request.tier) if request.tier in self.first else len(self.first)

    def _order(self, request: RequestState) -> tuple[int, int, float]:
        return self._rank(request), -request.support, request.ready or 0.0


def _answers(s: Situation) -> list[RequestState]:
    """The requests for an answer, not for an opening or a verdict."""
    return [a for a in s.requests if not a.opens and a.verifies is None]


def _can_be_spoken(request: RequestState) -> bool:
    """Whether it has words or calls that may be used, and is running or complete."""
    usable = request.ready is not None and request.dismissed is None and not request.overreached
    return usable and request.outcome not in ("cancelled", "failed")


def _opening(s: Situation) -> RequestState | None:
    return next((a for a in s.requests if a.opens), None)


def _followed(s: Situation) -> int | None:
    """The request whose opening the other requests contain; None without one."""
    return next((a.follows for a in s.requests if a.follows is not None), None)


def _others(s: Situation, kept: RequestState | None) -> tuple[int, ...]:
    return tuple(a.number for a in s.requests if a.running and a is not kept)


def _next(now: float, *instants: float | None) -> float | None:
    return min((at for at in instants if at is not None and at > now), default=None)
