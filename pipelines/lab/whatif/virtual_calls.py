"""Turns on a virtual clock: live answers, policies and statistics, over requests with simulated times."""

import asyncio
import itertools
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

from pipecat.processors.aggregators.llm_context import LLMContext

from latency.budget import Budget, Commit, Deadline, remaining_turn_budget
from latency.record.marks import Mark, Marks
from latency.record.turn import TurnRecord
from pipelines.lab.simulator.conversation import token_count
from pipelines.lab.simulator.timetable import timetable
from pipelines.lab.whatif.caller_turns import CallerTurn
from pipelines.lab.whatif.contestants import Cell
from pipelines.lab.whatif.draws import Draws, LatencyDraws, Randomness
from pipelines.lab.whatif.virtual_answer import (
    SilentSpeaker,
    SimulatedTier,
    Stream,
    Times,
    VirtualAnswer,
    VirtualLoop,
    Wording,
    run_answer,
    wording,
)
from pipelines.tiers.models import ENOUGH, USUAL_FAST_P95, USUAL_P95
from voice.language.english.phrases import ENGLISH
from voice.llm.answer.answer import Answer
from voice.llm.answer.answer_state import AnswerState
from voice.llm.answer.hold_phrases import HoldPhrases
from voice.llm.answer.llm_request import LLMRequest
from voice.llm.policy.make import make_policy
from voice.llm.policy.plan import Plan
from voice.llm.policy.policies import Policy
from voice.llm.policy.situation import Route, TurnInfo
from voice.llm.policy.tier_statistics import TierStatistics, Wait, quantile

FRAMING = 4
"""Tokens for the role and the marks around every message, as the simulator counts them."""
APART = 60.0
"""Seconds from turn to turn on the virtual clock, so that a turn meets the same stalls with every policy."""
HANDOVER = 0.007
"""Seconds from a complete clause to its hand-over to synthesis: the median of 14 real clauses (5 to 12 ms)."""
PHRASE_SECONDS_PER_CHARACTER = 0.067
"""Seconds of a filler phrase in our voice: "Let me think." takes 0.87 s."""
AGREED = wording("YES.")
"""A verifier's reply: its answers and the draft's are the same."""


@dataclass(frozen=True, slots=True)
class _Turn:
    """A turn of a call: its words, and the call so far."""

    caller: CallerTurn
    end: float
    """When the caller's speech ended, on the virtual clock."""
    words: Wording
    """What is answered."""
    prompt: int
    """Tokens of the conversation up to the answer."""
    phrases: HoldPhrases


class VirtualCalls:
    """One call after another with one server process, which keeps its tiers' statistics.

    Args:
        cell: the tiers and the policy.
        chance: the seed, and whether requests stall.
        budget: the shares of a turn.
        synthesis: seconds from a clause to its first sample, as measured lately.
        call_turns: the number of turns in a call; after them a new conversation begins.
        policy: a policy to use instead of the cell's.
        draws: the times of requests; drawn unless given.
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
        draws: Draws | None = None,
    ) -> None:
        self._policy = policy or make_policy(cell.policy, large="large", fast=None if cell.fast is None else "fast")
        self._book = TierStatistics({role: USUAL_FAST_P95 if role == "fast" else USUAL_P95 for role in cell.tiers})
        self._draws: Draws = draws or LatencyDraws(cell.tiers, chance)
        self._budget, self._call_turns, self._roles = budget, call_turns, tuple(cell.tiers)
        waits = [Wait(seconds, reached=True) for seconds in synthesis]
        self._synthesis_p95 = quantile(waits, 0.95) if len(waits) >= ENOUGH else None
        self._answers = itertools.count()
        self._route = Route()
        self._said_before: str | None = None

    def hold(self, turns: Sequence[CallerTurn]) -> list[TurnRecord]:
        """The record of each turn; instants on one virtual clock."""
        with _virtual_loop() as loop:
            return list(self._hold(turns, loop))

    def _hold(self, turns: Sequence[CallerTurn], loop: VirtualLoop) -> Iterator[TurnRecord]:
        history, fixed = 0, token_count(ENGLISH.prompt) + FRAMING
        for position, caller in enumerate(turns):
            call, number = divmod(position, self._call_turns)
            if number == 0:
                history, phrases = fixed, HoldPhrases(start=call + 1)
                self._route, self._said_before = Route(), None
            words = wording(caller.answer)
            history += token_count(caller.question) + FRAMING
            self._draws.turn(position)
            turn = _Turn(caller, (position + 1) * APART, words, history, phrases)
            answers = [self._answer(loop, turn, asked=one.asked, dropped=one.dropped)[0] for one in caller.discarded]
            last, plan = self._answer(loop, turn, asked=caller.asked, dropped=None)
            answers.append(last)
            self._route, self._said_before = self._route.then(plan.route), caller.answer
            yield TurnRecord(
                session=f"{call}",
                turn=number,
                speech=((turn.end - caller.speech, turn.end),),
                text=caller.question,
                said=caller.answer,
                wants_answer=True,
                marks=_marks(caller, turn.end, last),
                attempts=tuple(request for answer in answers for request in answer.requests),
                responses=tuple(answer.record for answer in answers),
            )
            history += words.tokens + FRAMING

    def _answer(
        self, loop: VirtualLoop, turn: _Turn, *, asked: float, dropped: float | None
    ) -> tuple[VirtualAnswer, Plan]:
        """Produce an answer requested at this time after the caller's speech; also returns its plan."""
        about = TurnInfo(text=turn.caller.question or None, asked=self._said_before, route=self._route)
        plan = self._policy.plan(self._book, about)

        def stream(request: LLMRequest) -> Stream:
            state = request.state
            words = turn.words if state.continues is None else turn.words.after(state.heard)
            if state.opens:
                words = wording(ENGLISH.openings[0], begun=True)
            if state.verifies is not None:
                words = AGREED
            coming = timetable(words.text, self._draws.model(state.tier), now=state.request)
            return Stream(words, coming, prompt_tokens=turn.prompt)

        streams: list[Stream] = []
        speaker = SilentSpeaker(turn.phrases, loop.time)
        tiers: dict[str, Any] = {role: SimulatedTier(stream, streams) for role in self._roles}
        state = AnswerState(
            number=next(self._answers), plan=plan, book=self._book, turn=about, judged=self._policy.judged
        )
        answer = Answer(state, tiers=tiers, context=LLMContext(), speaker=cast(Any, speaker), clock=loop.time)
        times = self._times(turn, plan, asked=asked, dropped=dropped)
        return run_answer(loop, answer, times, speaker=speaker, streams=streams), plan

    def _times(self, turn: _Turn, plan: Plan, *, asked: float, dropped: float | None) -> Times:
        caller, end = turn.caller, turn.end
        noticed = None if caller.noticed is None else end + caller.noticed
        ahead = None if noticed is None else remaining_turn_budget(noticed, self._budget, self._synthesis_p95)
        usual = self._book.quantile(plan.preferred, 0.5) if plan.preferred else None
        commit = Commit(
            at=end + caller.commit,
            speech_end=noticed,
            synthesis_p95=self._synthesis_p95,
            fast_p95=self._book.tail(plan.floor_tier),
            preferred_at=None if usual is None else end + asked + usual,
        )
        return Times(
            asked=end + asked,
            commit=commit.at,
            deadline=commit.deadline(self._budget),
            dropped=None if dropped is None else end + dropped,
            hinted=None if caller.hinted is None else end + caller.hinted,
            ahead=None if ahead is None else Deadline(ahead, "turn"),
        )


@contextmanager
def _virtual_loop() -> Iterator[VirtualLoop]:
    """A loop for answers, whose simulated failures are not logged."""
    log = logging.getLogger("voice.llm.answer")
    level = log.level
    log.setLevel(logging.CRITICAL)
    loop = VirtualLoop()
    try:
        yield loop
    finally:
        # The remaining tasks were just cancelled or interrupted.
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
        log.setLevel(level)


def _marks(turn: CallerTurn, end: float, answer: VirtualAnswer) -> Marks:
    """The marks of a turn."""
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
    for phrase in answer.record.said:
        if phrase.at is not None:
            began = max(spoken_until, phrase.at + turn.playout)
            spoken_until = began + len(phrase.text) * PHRASE_SECONDS_PER_CHARACTER
            marks.setdefault(Mark.FIRST_AUDIBLE, began)
    marks[Mark.FIRST_ANSWER_AUDIBLE] = max(sample + turn.playout, spoken_until)
    marks.setdefault(Mark.FIRST_AUDIBLE, marks[Mark.FIRST_ANSWER_AUDIBLE])
    return marks
