"""One answer on a virtual clock: carries out the plan's decisions, as `voice.llm.answer.answer.Answer` does live."""

from collections.abc import Callable
from dataclasses import dataclass

from latency.budget import Deadline
from latency.record.requests import Phrase
from pipelines.lab.whatif.virtual.request import VirtualRequest
from voice.frames import AnswerTextFrame
from voice.llm.answer.answer_state import AnswerState
from voice.llm.answer.hold_phrases import HoldPhrases
from voice.llm.policy.situation import Decision, Start

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


class VirtualAnswer:
    """An answer, from its first request until it is spoken, given up or discarded.

    Args:
        state: the answer before its first request; kept up to date from then on.
        times: when it is asked for, and due.
        ask: makes a request.
        bridging: phrases for a spent budget.
    """

    def __init__(self, state: AnswerState, *, times: Times, ask: Ask, bridging: HoldPhrases) -> None:
        self.state, self.times, self.bridging = state, times, bridging
        self._ask, self._now = ask, times.asked
        self.requests: list[VirtualRequest] = []
        self.handed: float | None = None
        """When the answer's first clause went to synthesis; before the commit it waits there."""

    def run(self) -> None:
        """Let it happen."""
        state, times = self.state, self.times
        while not state.is_over:
            self._meet(self._now)
            decision = state.decide(self._now)
            self._carry_out(decision)
            self._forward()
            if decision.acts or state.is_over:
                continue
            self._now = self._next(decision.wake_at)
            if times.dropped is not None and self._now >= times.dropped:
                self._now = times.dropped
                state.withdraw()
                break
        state.end(self._now)
        if times.commit is not None:
            self._meet(max(self._now, times.commit))

    def _meet(self, now: float) -> None:
        """Let everything happen that was due by `now`."""
        for request in self.requests:
            request.deliver(now)
        state, times = self.state, self.times
        if state.committed:
            return
        if times.commit is not None and times.deadline is not None and now >= times.commit:
            state.commit(times.commit, times.deadline)
        elif times.hinted is not None and times.ahead is not None and now >= times.hinted:
            state.expect(times.ahead)

    def _carry_out(self, decision: Decision) -> None:
        state = self.state
        if decision.speak is not None:
            state.speak(decision.speak)
            self._forward()
        if decision.release:
            state.review.release(state.requests, self._now)
        for number in decision.cancel:
            state.requests[number].cancel(self._now)
        for start in decision.start:
            heard = 0 if start.continues is None else state.requests[start.continues].state.clauses
            request = self._ask(start, len(self.requests), self._now, heard)
            self.requests.append(request)
            state.add(request)
        if decision.say is not None:
            text, tier = self.bridging.phrase(decision.say), None
            for opener in [one.state for one in self.requests if one.state.opens and decision.say == "opening"]:
                opener.said, tier = True, opener.tier
            state.say(Phrase(at=self._now, kind=decision.say, text=text, tier=tier), self._now)
        if decision.give_up:
            state.gave_up = state.why_unanswered()

    def _forward(self) -> None:
        """Speak the clauses that the chosen request has ready."""
        for piece in self.state.speaking.take() if self.state.speaking else []:
            if isinstance(piece, AnswerTextFrame):
                self.state.hand_over(piece.text, self._now)
                self.handed = self._now if self.handed is None else self.handed

    def _next(self, wake_at: float | None) -> float:
        """The next instant at which anything happens."""
        coming = [one.upcoming.at for one in self.requests if one.state.running and one.upcoming is not None]
        times = self.times
        if not self.state.committed:
            coming += [at for at in (times.commit, times.dropped) if at is not None]
            if times.hinted is not None and times.hinted > self._now:
                coming.append(times.hinted)
        if wake_at is not None:
            coming.append(wake_at)
        return max(self._now, min(coming))
