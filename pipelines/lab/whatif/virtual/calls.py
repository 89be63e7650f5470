"""Turns on a virtual clock: the real policies and statistics over requests that the simulator's latency models time."""

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from latency.budget import Budget, Commit, Deadline, remaining_turn_budget
from latency.record.marks import Mark, Marks
from latency.record.turn import TurnRecord
from pipelines.lab.whatif.contestant import Cell, Contestant
from pipelines.lab.whatif.turns.caller_turn import CallerTurn
from pipelines.lab.whatif.virtual.answer import Times, VirtualAnswer
from pipelines.lab.whatif.virtual.paired_draws import PairedDraws
from pipelines.lab.whatif.virtual.request import VirtualRequest
from pipelines.lab.whatif.virtual.wording import Wording, wording
from pipelines.tiers.models import ENOUGH, USUAL_FAST_P95, USUAL_P95
from voice.language.phrases import ENGLISH
from voice.llm.answer.answer_state import AnswerState
from voice.llm.answer.hold_phrases import HoldPhrases
from voice.llm.policy.make import make_policy
from voice.llm.policy.plan import Plan
from voice.llm.policy.policies import Policy
from voice.llm.policy.situation import RequestState, Route, Start, TurnInfo
from voice.llm.policy.tier_statistics import TierStatistics, Wait, quantile
from voice.simulator.conversation import token_count
from voice.simulator.timing.latency_model import STALL_CORRELATION, LatencyModel, StallState
from voice.simulator.timing.timetable import timetable

FRAMING = 4
"""Tokens for the role and the marks around every message, as the simulator counts them."""
APART = 60.0
"""Seconds from turn to turn on the virtual clock, so that the same stalls meet a turn with every policy."""
HANDOVER = 0.007
"""Seconds from a whole clause to its hand-over to synthesis: the median of 14 clauses that were heard (5 to 12 ms)."""
PHRASE_SECONDS_PER_CHARACTER = 0.067
"""Of a filler phrase, as our voice says it: "Let me think." takes 0.87 s."""
AGREED = wording("YES.")
"""A verifier's reply: its answers and the draft's are the same."""
MOST_REQUESTS = 64
"""More requests than any turn makes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Randomness:
    """What is left to chance."""

    seed: int = 1
    stalls: bool = True
    """Whether one call in a hundred stalls."""
    correlated: bool = True
    """Whether calls to one provider stall together."""


class VirtualCalls:
    """One call after another with one server process, whose statistics of its tiers are kept.

    Args:
        cell: the tiers and the policy.
        chance: the seed, and whether requests stall.
        budget: the shares of a turn.
        synthesis: seconds from a clause to its first sample, as measured lately.
        call_turns: how many turns a call has; the conversation begins anew after them.
        policy: instead of the one that the cell names.
        luck: the times of requests; drawn unless given.
    """

    def __init__(
        self,
        cell: Cell,
        *,
        chance: Randomness,
        budget: Budget,
        synthesis: Sequence[float] = (),
        call_turns: int = 10,
        policy: Policy | None = None,
        luck: "LatencyDraws | PairedDraws | None" = None,
    ) -> None:
        self._policy = policy or make_policy(cell.policy, large="large", fast=None if cell.fast is None else "fast")
        self._book = TierStatistics({role: USUAL_FAST_P95 if role == "fast" else USUAL_P95 for role in cell.tiers})
        self._luck = luck or LatencyDraws(cell.tiers, chance)
        self._budget, self._call_turns = budget, call_turns
        waits = [Wait(seconds, reached=True) for seconds in synthesis]
        self._synthesis_p95 = quantile(waits, 0.95) if len(waits) >= ENOUGH else None
        self._answers = itertools.count()
        self._route = Route()
        self._said_before: str | None = None

    def hold(self, turns: Sequence[CallerTurn]) -> Iterator[TurnRecord]:
        """What becomes of each turn; instants on one virtual clock."""
        history, fixed = 0, token_count(ENGLISH.prompt) + FRAMING
        for position, turn in enumerate(turns):
            number = position % self._call_turns
            if number == 0:
                history, bridging = fixed, HoldPhrases(start=position // self._call_turns + 1)
                self._route, self._said_before = Route(), None
            words = wording(turn.answer)
            history += token_count(turn.question) + FRAMING
            self._luck.turn(position)
            yield self._turn(turn, (position + 1) * APART, words, history, bridging, position)
            history += words.tokens + FRAMING

    def _turn(
        self, turn: CallerTurn, end: float, words: Wording, prompt: int, bridging: HoldPhrases, position: int
    ) -> TurnRecord:
        answers = [
            self._answer(turn, end, words, prompt, bridging, asked=one.asked, dropped=one.dropped)
            for one in turn.discarded
        ]
        last = self._answer(turn, end, words, prompt, bridging, asked=turn.asked, dropped=None)
        self._route, self._said_before = self._route.then(last.state.plan.route), turn.answer
        answers.append(last)
        return TurnRecord(
            session=f"{position // self._call_turns}",
            turn=position % self._call_turns,
            speech=((end - turn.speech, end),),
            text=turn.question,
            said=turn.answer,
            wants_answer=True,
            marks=_marks(turn, end, last),
            attempts=tuple(one.record(response=answer.state.number) for answer in answers for one in answer.requests),
            responses=tuple(answer.state.record() for answer in answers),
        )

    def _answer(
        self,
        turn: CallerTurn,
        end: float,
        words: Wording,
        prompt: int,
        bridging: HoldPhrases,
        *,
        asked: float,
        dropped: float | None,
    ) -> VirtualAnswer:
        about = TurnInfo(text=turn.question or None, asked=self._said_before, route=self._route)
        plan = self._policy.plan(self._book, about)

        def ask(start: Start, number: int, now: float, heard: int) -> VirtualRequest:
            left = words if start.continues is None else words.after(heard)
            if start.opens:
                left = wording(ENGLISH.openings[0], begun=True)
            if start.verifies is not None:
                left = AGREED
            return VirtualRequest(
                RequestState.of(start, number=number, request=now, heard=heard, reviewed=plan.drafts(start)),
                wording=left,
                timetable=timetable(left.text, self._luck.model(start.tier), now=now),
                prompt_tokens=prompt,
            )

        state = AnswerState(number=next(self._answers), plan=plan, book=self._book, judged=self._policy.judged)
        times = self._times(turn, end, plan, asked=asked, dropped=dropped)
        answer = VirtualAnswer(state, times=times, ask=ask, bridging=bridging)
        answer.run()
        return answer

    def _times(self, turn: CallerTurn, end: float, plan: Plan, *, asked: float, dropped: float | None) -> Times:
        noticed = None if turn.noticed is None else end + turn.noticed
        ahead = None if noticed is None else remaining_turn_budget(noticed, self._budget, self._synthesis_p95)
        usual = self._book.quantile(plan.preferred, 0.5) if plan.preferred else None
        commit = Commit(
            at=end + turn.commit,
            speech_end=noticed,
            synthesis_p95=self._synthesis_p95,
            fast_p95=self._book.tail(plan.floor_tier),
            preferred_at=None if usual is None else end + asked + usual,
        )
        return Times(
            asked=end + asked,
            commit=None if dropped is not None else commit.at,
            dropped=None if dropped is None else end + dropped,
            hinted=None if turn.hinted is None else end + turn.hinted,
            ahead=None if ahead is None else Deadline(ahead, "turn"),
            deadline=commit.deadline(self._budget),
        )


class LatencyDraws:
    """Latency models for single requests, seeded by the turn and the request.

    So a turn has the same luck with every policy, and with stalls and without, and their differences are no chance. The
    models of one provider share their stalls.

    Args:
        tiers: by role.
        chance: the seed, and whether requests stall.
    """

    def __init__(self, tiers: Mapping[str, Contestant], chance: Randomness) -> None:
        correlation = STALL_CORRELATION if chance.correlated else 0.0
        self._seed, self._position, self._requests = chance.seed, 0, Counter[str]()
        self._profiles = {
            role: tier.profile if chance.stalls else replace(tier.profile, stall_rate=0.0)
            for role, tier in tiers.items()
        }
        self._places = {role: place for place, role in enumerate(tiers)}
        states = {
            provider: StallState(provider, chance.seed, correlation=correlation)
            for provider in {profile.provider for profile in self._profiles.values()}
        }
        self._states = {role: states[profile.provider] for role, profile in self._profiles.items()}

    def turn(self, position: int) -> None:
        """A turn begins."""
        self._position = position
        self._requests.clear()

    def model(self, role: str) -> LatencyModel:
        """The model for the turn's next request to a tier."""
        number = self._requests[role]
        self._requests[role] += 1
        request = (self._position * len(self._places) + self._places[role]) * MOST_REQUESTS + number
        # Each seed has its own turns; 2^40 requests are more than anybody waits for.
        return LatencyModel(self._profiles[role], self._states[role], (self._seed << 40) + request)


def _marks(turn: CallerTurn, end: float, answer: VirtualAnswer) -> Marks:
    """The instants by which a turn is measured."""
    commit = end + turn.commit
    marks = Marks({Mark.SPEECH_END: end, Mark.TURN_COMMIT: commit, Mark.LLM_REQUEST: end + turn.asked})
    if answer.handed is None:
        return marks
    marks[Mark.LLM_FIRST_CLAUSE] = max(answer.handed, commit)
    if turn.ahead and answer.handed < commit:
        sample = max(answer.handed + HANDOVER + turn.synthesis, commit + turn.release)
    else:
        sample = max(answer.handed, commit) + HANDOVER + turn.synthesis
    spoken_until = 0.0
    for phrase in answer.state.said:
        if phrase is not None and phrase.at is not None:
            began = max(spoken_until, phrase.at + turn.playout)
            spoken_until = began + len(phrase.text) * PHRASE_SECONDS_PER_CHARACTER
            marks.setdefault(Mark.FIRST_AUDIBLE, began)
    marks[Mark.FIRST_ANSWER_AUDIBLE] = max(sample + turn.playout, spoken_until)
    marks.setdefault(Mark.FIRST_AUDIBLE, marks[Mark.FIRST_ANSWER_AUDIBLE])
    return marks
