"""One answer on a virtual clock: carries out the plan's decisions, as `voice.llm.answer.answer.Answer` does live."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from latency.budget import Deadline
from latency.record.requests import AnswerRecord, Phrase
from pipelines.lab.whatif.virtual.attempt import VirtualRequest
from voice.llm.answer.hold_phrases import HoldPhrases
from voice.llm.answer.learning import judge, why_unanswered
from voice.llm.answer.playout_estimate import PlayoutEstimate
from voice.llm.ensemble.candidates import Candidates
from voice.llm.policy import Decision, Plan, Situation, Start
from voice.llm.policy.tier_statistics import TierStatistics
from voice.llm.verification.review import Review

Ask = Callable[[Start, int, float, int], VirtualRequest]
"""Makes a request: what to start, its number, when, and how many clauses of the answer it continues were heard."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """When an answer is asked for and what ends its wait; instants on the virtual clock, seconds."""

    asked: float
    commit: float | None
    """None for a speculative answer that is discarded."""
    dropped: float | None = None
    """When it is discarded."""
    hinted: float | None = None
    """When `ahead` becomes known."""
    ahead: Deadline | None = None
    """The deadline that holds until the commit; None when nothing is known of it."""
    deadline: Deadline | None = None
    """The deadline from the commit on."""


@dataclass(slots=True, kw_only=True)
class VirtualAnswer:
    """An answer, from its first request until it is spoken, given up or discarded.

    Args:
        number: its position in the call.
        plan: the turn's policy.
        book: the statistics of the tiers, updated by every request.
        times: when it is asked for, and due.
        ask: makes a request.
        bridging: phrases for a spent budget.
        judged: the tier that the policy demotes when it is late.
    """

    number: int
    plan: Plan
    book: TierStatistics
    times: Times
    ask: Ask
    bridging: HoldPhrases
    judged: str | None = None
    candidates: Candidates = field(default_factory=lambda: Candidates(None))
    review: Review = field(default_factory=lambda: Review(None))
    attempts: list[VirtualRequest] = field(default_factory=list)
    said: list[Phrase] = field(default_factory=list)
    handed: float | None = None
    """When the answer's first clause went to synthesis; before the commit it waits there."""
    gave_up: str | None = None
    gave_up_at: float | None = None
    _now: float = 0.0
    _commit: float | None = None
    _deadline: Deadline | None = None
    _speaking: VirtualRequest | None = None
    _forwarded: int = 0
    _playout: PlayoutEstimate = field(default_factory=PlayoutEstimate)

    def run(self) -> None:
        """Let it happen."""
        self._now = self.times.asked
        while not self._over:
            self._meet(self._now)
            self.review.proceed(self.attempts, self._now)
            decision = self.plan.decide(self._situation())
            self._carry_out(decision)
            self._forward()
            if decision.start or decision.speak is not None or decision.release or self._over:
                continue
            self._now = self._next(decision.wake_at)
            if self.times.dropped is not None and self._now >= self.times.dropped:
                self._withdraw(self.times.dropped)
                break
        self._end()

    @property
    def _over(self) -> bool:
        return self.gave_up is not None or (self._speaking is not None and self._speaking.outcome == "complete")

    def _meet(self, now: float) -> None:
        """Let everything happen that was due by `now`."""
        for attempt in self.attempts:
            attempt.deliver(now)
        times = self.times
        if self._commit is None and times.commit is not None and now >= times.commit:
            self._commit, self._deadline = times.commit, times.deadline
            self.book.turn(self.plan.opener or self.plan.first[0], judged=self.judged)
            self._playout.release(times.commit)
        elif self._commit is None and times.hinted is not None and now >= times.hinted:
            self._deadline = times.ahead

    def _situation(self) -> Situation:
        return Situation(
            now=self._now,
            commit=self._commit,
            deadline=self._deadline,
            attempts=self.candidates.views(self.attempts),
            speaking=self._speaking.number if self._speaking else None,
            dry_at=self._playout.ends_at,
            held=len(self.said),
        )

    def _carry_out(self, decision: Decision) -> None:
        if decision.speak is not None:
            self.candidates.picked(self.attempts, decision.speak)
            self._speaking = self.attempts[decision.speak]
            self._speaking.spoken = True
            self._forwarded = 0
            self._forward()
        if decision.release:
            self.review.release(self.attempts, self._now)
        for number in decision.cancel:
            self.attempts[number].cancel(self._now)
        for start in decision.start:
            heard = 0 if start.continues is None else self.attempts[start.continues].clauses
            if start.hedge:
                self.book.hedges.take()
            self.attempts.append(self.ask(start, len(self.attempts), self._now, heard))
        if decision.say is not None:
            phrase = self.bridging.phrase(decision.say)
            opener = next((one for one in self.attempts if one.opens), None) if decision.say == "opening" else None
            if opener is not None:
                opener.said = True
            tier = opener.tier if opener else None
            self.said.append(Phrase(at=self._now, kind=decision.say, text=phrase, tier=tier))
            self._playout.add(phrase, self._now)
        if decision.give_up:
            self.gave_up, self.gave_up_at = why_unanswered(self.attempts), self._now

    def _forward(self) -> None:
        """Speak the clauses that the chosen request has ready."""
        if self._speaking is None:
            return
        texts = self._speaking.clauses_from(self._forwarded)
        for text in texts:
            self._playout.add(text, None if self._commit is None else self._now)
            if self.handed is None:
                self.handed = self._now
        self._forwarded += len(texts)

    def _next(self, wake_at: float | None) -> float:
        """The next instant at which anything happens."""
        coming = [a.upcoming.at for a in self.attempts if a.outcome is None and a.upcoming is not None]
        times = self.times
        if self._commit is None:
            coming += [at for at in (times.commit, times.dropped) if at is not None]
            if times.hinted is not None and times.hinted > self._now:
                coming.append(times.hinted)
        if wake_at is not None:
            coming.append(wake_at)
        return max(self._now, min(coming))

    def _withdraw(self, now: float) -> None:
        """The turn had not ended."""
        for attempt in self.attempts:
            attempt.withdrawn = True
        self._now = now

    def _end(self) -> None:
        for attempt in self.attempts:
            attempt.cancel(self._now)
        for attempt in self.attempts:
            if wait := attempt.wait:
                self.book.observe(attempt.tier, wait.seconds, reached=wait.reached)
        if self.times.commit is not None:
            if self._commit is None:
                self._meet(max(self._now, self.times.commit))
            if self.judged is not None and self.times.deadline is not None:
                judge(self.book, self.attempts, self.judged, self.times.deadline)

    def record(self) -> AnswerRecord:
        """As the server would report it."""
        deadline = self._deadline if self._commit is not None else None
        return AnswerRecord(
            response=self.number,
            policy=self.plan.policy,
            reason=self.plan.reason,
            commit=self._commit,
            deadline=deadline.at if deadline else None,
            limit=deadline.limit if deadline else None,
            charged=deadline.charged if deadline else None,
            said=tuple(self.said),
            gave_up=self.gave_up,
            tier=self._speaking.tier if self._speaking else None,
            vote=self.candidates.vote,
            verification=self.review.record,
        )

    def ends_at(self) -> float:
        """When nothing more happens in it."""
        return self._now


def spoken(attempts: Sequence[VirtualRequest]) -> VirtualRequest | None:
    """The request whose words were spoken first."""
    return next((attempt for attempt in attempts if attempt.spoken), None)
