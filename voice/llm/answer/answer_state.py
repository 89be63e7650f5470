"""The state of one answer and its next steps, in a call or on a virtual clock. Pure: instants are passed in."""

from latency.budget import Deadline
from latency.record.requests import AnswerRecord, Cap, Phrase
from voice.llm.answer.clauses import SECONDS_PER_CHARACTER
from voice.llm.answer.llm_request import LLMRequest
from voice.llm.candidates import Candidates
from voice.llm.policy.plan import Plan
from voice.llm.policy.situation import ANY_TURN, Decision, Situation, TurnInfo
from voice.llm.policy.tier_statistics import TierStatistics
from voice.llm.verification import Review

ENOUGH_TOKENS = 8
"""The least tokens of a request that say how fast its tier writes."""


class PlayoutEstimate:
    """Estimates the playout of the text handed to synthesis, which cannot be observed here.

    Args:
        lag: seconds from the hand-over to the first sound.
    """

    def __init__(self, *, lag: float = 0.1) -> None:
        self._lag = lag
        self._waiting = 0.0
        self.ends_at: float | None = None
        """When all text will have been played, seconds; None before any."""

    def add(self, text: str, now: float | None) -> None:
        """Add text handed to synthesis at `now`; None while it is held back until the commit."""
        seconds = len(text.strip()) * SECONDS_PER_CHARACTER
        if now is None:
            self._waiting += seconds
        else:
            self._play(seconds, now)

    def release(self, now: float) -> None:
        """Text held back is spoken from now on."""
        if self._waiting:
            self._play(self._waiting, now)
            self._waiting = 0.0

    def _play(self, seconds: float, now: float) -> None:
        self.ends_at = max(self.ends_at or 0.0, now + self._lag) + seconds


class AnswerState:
    """The requests for an answer, the spoken one, and the phrases said in the meantime.

    Args:
        number: the position of the answer in the call.
        plan: the turn's policy.
        book: the statistics of the tiers, updated by every request.
        turn: what is known of the turn.
        follows_tool: whether it uses a tool's result.
        judged: the tier that the policy demotes when it is late; judged only if it is asked first.
        cap: the spending cap reached before it, for the record.
        forgotten: how many turns have been dropped from the context, for the record.
    """

    def __init__(
        self,
        *,
        number: int,
        plan: Plan,
        book: TierStatistics,
        turn: TurnInfo = ANY_TURN,
        follows_tool: bool = False,
        judged: str | None = None,
        cap: Cap | None = None,
        forgotten: int | None = None,
    ) -> None:
        self.number, self.plan, self.book, self.turn, self.follows_tool = number, plan, book, turn, follows_tool
        self.judged, self._cap, self._forgotten = judged, cap, forgotten
        self.requests: list[LLMRequest] = []
        self._candidates, self.review = Candidates(turn.text), Review(turn.text)
        self.committed_at: float | None = None
        self.deadline: Deadline | None = None
        self.speaking: LLMRequest | None = None
        self.playout = PlayoutEstimate()
        self.said: list[Phrase | None] = []
        """None for a phrase that was due but not spoken."""
        self.gave_up: str | None = None
        self.ended = False

    @property
    def committed(self) -> bool:
        """Whether its turn is committed."""
        return self.committed_at is not None

    @property
    def is_over(self) -> bool:
        """Whether it was spoken in full, or given up."""
        return self.gave_up is not None or (self.speaking is not None and self.speaking.state.outcome == "complete")

    @property
    def escalated(self) -> bool:
        """Whether a tier called a tool that is reserved for another one."""
        return any(request.state.overreached for request in self.requests)

    def preferred_at(self, now: float) -> float | None:
        """When the preferred tier usually has its first clause; None without one, or if unknown."""
        tier = self.plan.preferred
        usual = self.book.quantile(tier, 0.5) if tier else None
        asked = next((one.state.request for one in self.requests if one.state.tier == tier), now)
        return None if usual is None else asked + usual

    @property
    def floor_p95(self) -> float:
        """The seconds needed by the tier that a deadline must leave time for."""
        return self.book.tail(self.plan.floor_tier)

    def expect(self, deadline: Deadline) -> None:
        """Note the deadline that would hold if the turn were committed now."""
        if not self.committed:
            self.deadline = deadline

    def charge(self, deadline: Deadline) -> None:
        """Update the deadline once it is known which stage overspent."""
        if self.deadline is not None and self.deadline.at == deadline.at:
            self.deadline = deadline

    def commit(self, at: float, deadline: Deadline) -> None:
        """The turn is committed; the budget runs from `at`."""
        self.committed_at, self.deadline = at, deadline
        self.book.turn(self.plan.opener or self.plan.first[0], judged=self.judged)
        self.playout.release(at)
        if self.ended:
            self._judge()

    def decide(self, now: float) -> Decision:
        """The policy's next steps."""
        self.review.proceed(self.requests, now)
        self._candidates.compare(self.requests)
        situation = Situation(
            now=now,
            commit=self.committed_at,
            deadline=self.deadline,
            requests=[request.state for request in self.requests],
            speaking=self.speaking.state.number if self.speaking else None,
            dry_at=self.playout.ends_at,
            held=len(self.said),
        )
        return self.plan.decide(situation)

    def add(self, request: LLMRequest) -> None:
        """A request was made."""
        if request.state.hedge:
            self.book.hedges.take()
        self.requests.append(request)

    def speak(self, number: int) -> None:
        """Choose this request: its words are spoken from now on."""
        self._candidates.pick(self.requests, number)
        self.speaking = self.requests[number]
        self.speaking.state.spoken = True

    def hand_over(self, text: str, now: float) -> None:
        """Add words handed to synthesis, where they may wait for the commit."""
        self.playout.add(text, now if self.committed else None)

    def say(self, phrase: Phrase | None, now: float) -> None:
        """Add a phrase handed to synthesis, or one that was due but cannot be said."""
        self.said.append(phrase)
        if phrase is not None:
            self.playout.add(phrase.text, now)

    def withdraw(self) -> None:
        """Discard the speculative answer: the turn had not ended."""
        for request in self.requests:
            request.state.withdrawn = True

    def end(self, now: float) -> None:
        """End the answer: record in the book how fast each tier was, and which think aloud."""
        for request in self.requests:
            request.cancel(now)
            state = request.state
            if request.streamed.cleaner.thought_before:
                self.book.thinking.add(state.tier)
            elif state.outcome == "complete":
                self.book.thinking.discard(state.tier)
            if wait := state.wait:
                self.book.observe(state.tier, wait.seconds, reached=wait.reached)
            if state.tokens >= ENOUGH_TOKENS and (token := state.token) is not None:
                self.book.observe_token(state.tier, token)
        self._judge()
        self.ended = True

    def _judge(self) -> None:
        """Record whether the tier that may be demoted met the deadline, if it was asked first."""
        first = self.requests[0].state if self.requests else None
        if self.committed and self.deadline is not None and first is not None and first.tier == self.judged:
            in_time = first.in_time(self.deadline)
            if in_time is not None:
                self.book.standing[self.judged].observe(in_time)

    def why_unanswered(self) -> str:
        """Why no request gave an answer: the tiers' failures in one sentence."""
        silent = "it had nothing to say in time"
        states = [request.state for request in self.requests]
        reasons = [(state.tier, state.failed or (None if state.clauses else silent)) for state in states]
        failures = [f"{tier}: {why}" for tier, why in reasons if why]
        # Each failure is a sentence; join them into one.
        joined = "; ".join(dict.fromkeys(failures)).replace(".; ", "; ")
        return joined or "no language model answered in time"

    def record(self) -> AnswerRecord:
        """The answer's record."""
        deadline = self.deadline if self.committed else None
        states = [request.state for request in self.requests]
        return AnswerRecord(
            response=self.number,
            policy=self.plan.policy,
            reason=self.plan.reason,
            commit=self.committed_at,
            deadline=deadline.at if deadline else None,
            limit=deadline.limit if deadline else None,
            charged=deadline.charged if deadline else None,
            said=tuple(phrase for phrase in self.said if phrase),
            gave_up=self.gave_up,
            tier=next((state.tier for state in states if state.reported_outcome == "spoken"), None),
            cap=self._cap,
            vote=self._candidates.vote,
            verification=self.review.record,
            forgotten=self._forgotten,
        )
