"""Turns on a virtual clock: the real policies and statistics over requests that the simulator's latency models time."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from latency.budget import Budget, Commit, Deadline, what_a_turn_leaves
from latency.record.marks import Mark, Marks
from latency.record.turn import TurnRecord
from pipelines.providers.tiered_models import ENOUGH, USUAL_FAST_P95, USUAL_P95
from pipelines.providers.tiers import PROMPT
from pipelines.whatif.caller_turn import CallerTurn
from pipelines.whatif.contestant import Cell, Contestant
from pipelines.whatif.virtual_answer import Times, VirtualAnswer
from pipelines.whatif.virtual_attempt import VirtualAttempt
from pipelines.whatif.wording import Wording, wording
from voice.llm.answer.bridging import Bridging
from voice.llm.answer.playout_estimate import SECONDS_PER_CHARACTER
from voice.llm.policy import Plan, Policy, Start, make_policy
from voice.llm.policy.tier_stats import TierBook, Wait, quantile
from voice.simulator.conversation import token_count
from voice.simulator.timing.latency_model import STALL_CORRELATION, LatencyModel, StallState
from voice.simulator.timing.timetable import timetable

FRAMING = 4
"""Tokens for the role and the marks around every message, as the simulator counts them."""
BREATH = 1.0
"""Seconds between the end of an answer and the caller's next words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chance:
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
    """

    def __init__(
        self,
        cell: Cell,
        *,
        chance: Chance,
        budget: Budget,
        synthesis: Sequence[float] = (),
        call_turns: int = 10,
        policy: Policy | None = None,
    ) -> None:
        self._policy = policy or make_policy(cell.policy, large="large", fast=None if cell.fast is None else "fast")
        self._book = TierBook({role: USUAL_FAST_P95 if role == "fast" else USUAL_P95 for role in cell.tiers})
        self._models = models_of(cell.tiers, chance)
        self._budget, self._call_turns = budget, call_turns
        waits = [Wait(seconds, reached=True) for seconds in synthesis]
        self._synthesis_p95 = quantile(waits, 0.95) if len(waits) >= ENOUGH else None
        self._answers = itertools.count()

    def hold(self, turns: Sequence[CallerTurn]) -> Iterator[TurnRecord]:
        """What becomes of each turn; instants on one virtual clock."""
        now, history, fixed = 0.0, 0, token_count(PROMPT) + FRAMING
        for position, turn in enumerate(turns):
            number = position % self._call_turns
            if number == 0:
                history, bridging = fixed, Bridging(start=position // self._call_turns)
            words = wording(turn.answer)
            history += token_count(turn.question) + FRAMING
            # The earliest instant is that of a speculative answer, which may lie before the end of long speech.
            end = now + max(turn.speech, *(-one.asked for one in turn.discarded), -turn.asked)
            record = self._turn(turn, end, words, history, bridging, position, number)
            yield record
            history += words.tokens + FRAMING
            now = max(_last(record), end) + len(turn.answer) * SECONDS_PER_CHARACTER + BREATH

    def _turn(
        self, turn: CallerTurn, end: float, words: Wording, prompt: int, bridging: Bridging, position: int, number: int
    ) -> TurnRecord:
        answers = [
            self._answer(turn, end, words, prompt, bridging, asked=one.asked, dropped=one.dropped)
            for one in turn.discarded
        ]
        last = self._answer(turn, end, words, prompt, bridging, asked=turn.asked, dropped=None)
        answers.append(last)
        return TurnRecord(
            session=f"{position // self._call_turns}",
            turn=number,
            speech=((end - turn.speech, end),),
            text=turn.question,
            said=turn.answer,
            wants_answer=True,
            marks=_marks(turn, end, last),
            attempts=tuple(one.record(response=answer.number) for answer in answers for one in answer.attempts),
            responses=tuple(answer.record() for answer in answers),
        )

    def _answer(
        self,
        turn: CallerTurn,
        end: float,
        words: Wording,
        prompt: int,
        bridging: Bridging,
        *,
        asked: float,
        dropped: float | None,
    ) -> VirtualAnswer:
        plan = self._policy.plan(self._book)

        def ask(start: Start, number: int, now: float, heard: int) -> VirtualAttempt:
            left = words if start.continues is None else words.after(heard)
            return VirtualAttempt(
                number=number,
                tier=start.tier,
                request=now,
                wording=left,
                timetable=timetable(left.text, self._models[start.tier], now=now),
                continues=start.continues,
                heard=heard,
                prompt_tokens=prompt,
            )

        answer = VirtualAnswer(
            number=next(self._answers),
            plan=plan,
            book=self._book,
            times=self._times(turn, end, plan, asked=asked, dropped=dropped),
            ask=ask,
            bridging=bridging,
            judged=self._policy.judged,
        )
        answer.run()
        return answer

    def _times(self, turn: CallerTurn, end: float, plan: Plan, *, asked: float, dropped: float | None) -> Times:
        noticed = None if turn.noticed is None else end + turn.noticed
        ahead = None if noticed is None else what_a_turn_leaves(noticed, self._budget, self._synthesis_p95)
        commit = Commit(
            at=end + turn.commit,
            speech_end=noticed,
            synthesis_p95=self._synthesis_p95,
            fast_p95=self._book.tail(plan.floor_tier),
        )
        return Times(
            asked=end + asked,
            commit=None if dropped is not None else commit.at,
            dropped=None if dropped is None else end + dropped,
            hinted=None if turn.hinted is None else end + turn.hinted,
            ahead=None if ahead is None else Deadline(ahead, "turn"),
            deadline=commit.deadline(self._budget),
        )


def models_of(tiers: Mapping[str, Contestant], chance: Chance) -> dict[str, LatencyModel]:
    """A latency model for each role; the models of one provider share their stalls."""
    correlation = STALL_CORRELATION if chance.correlated else 0.0
    states: dict[str, StallState] = {}
    models = {}
    for place, (role, tier) in enumerate(tiers.items()):
        profile = tier.profile if chance.stalls else replace(tier.profile, stall_rate=0.0)
        state = states.setdefault(
            profile.provider, StallState(profile.provider, chance.seed, correlation=correlation)
        )
        # The same model in both roles draws for itself in each.
        models[role] = LatencyModel(profile, state, chance.seed + place)
    return models


def _marks(turn: CallerTurn, end: float, answer: VirtualAnswer) -> Marks:
    """The instants by which a turn is measured."""
    commit = end + turn.commit
    marks = Marks({Mark.SPEECH_END: end, Mark.TURN_COMMIT: commit, Mark.LLM_REQUEST: end + turn.asked})
    if answer.handed is None:
        return marks
    marks[Mark.LLM_FIRST_CLAUSE] = max(answer.handed, commit)
    prepared = turn.ahead and answer.handed < commit
    sample = answer.handed + turn.synthesis if prepared or answer.handed >= commit else commit + turn.synthesis
    if prepared:
        sample = max(sample, commit + turn.release)
    spoken_until = 0.0
    for phrase in answer.said:
        if phrase.at is not None:
            began = max(spoken_until, phrase.at + turn.playout)
            spoken_until = began + len(phrase.text) * SECONDS_PER_CHARACTER
            marks.setdefault(Mark.FIRST_AUDIBLE, began)
    marks[Mark.FIRST_ANSWER_AUDIBLE] = max(sample + turn.playout, spoken_until)
    marks.setdefault(Mark.FIRST_AUDIBLE, marks[Mark.FIRST_ANSWER_AUDIBLE])
    return marks


def _last(record: TurnRecord) -> float:
    """The last instant of a turn."""
    known = [*record.marks.values(), *(attempt.end for attempt in record.attempts if attempt.end is not None)]
    return max(known)
