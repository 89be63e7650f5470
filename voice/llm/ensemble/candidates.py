"""The candidates for one answer: which of them may be used, which agree, and why one was picked. Pure.

A policy sees the result in its `RequestState`s; see `RequestState.dismissed` and `RequestState.support`.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from latency.record.requests import Vote
from voice.llm.answer.llm_request import LLMRequest
from voice.llm.ensemble.checks import fault_in
from voice.llm.ensemble.facts import Facts, facts_of, facts_of_calls
from voice.llm.policy import RequestState


class Candidates:
    """Judges the candidates of one answer.

    Args:
        question: the caller's words; None when they are unknown.
    """

    def __init__(self, question: str | None) -> None:
        self._question = question or ""
        self._faults: dict[tuple[int, int, bool], str | None] = {}
        self._facts: dict[int, Facts] = {}
        self.vote: Vote | None = None
        """How the answer was picked; None while it is not, and for an answer without candidates."""

    def views(self, attempts: Sequence[LLMRequest]) -> list[RequestState]:
        """The attempts as a policy sees them: candidates with what is wrong with them, and how many agree."""
        if not any(attempt.candidate is not None for attempt in attempts):
            return [attempt.view for attempt in attempts]
        stated = {attempt.number: self._facts_of(attempt) for attempt in attempts if self._is_whole(attempt)}
        support = Counter(stated.values())
        return [
            replace(
                attempt.view,
                dismissed=self._fault_in(attempt),
                support=support[stated[attempt.number]] if attempt.number in stated else 0,
            )
            for attempt in attempts
        ]

    def picked(self, attempts: Sequence[LLMRequest], number: int) -> None:
        """Note why the attempt of this number is spoken, if there are candidates and none was picked before."""
        views = [view for view in self.views(attempts) if view.candidate is not None]
        if not views or self.vote is not None:
            return
        chosen = next((view for view in views if view.number == number), None)
        there = [view for view in views if view.support]
        dismissed = tuple(why for view in views if (why := attempts[view.number].failed or view.dismissed) is not None)
        self.vote = Vote(
            candidates=len(views),
            there=len(there),
            agreeing=chosen.support if chosen else 0,
            dismissed=dismissed,
            why=_why(chosen, views, there),
        )

    def _is_whole(self, attempt: LLMRequest) -> bool:
        is_over = attempt.outcome == "complete" or attempt.called is not None
        return attempt.candidate is not None and is_over and self._fault_in(attempt) is None

    def _fault_in(self, attempt: LLMRequest) -> str | None:
        """What is wrong with a candidate; checked again whenever it has grown."""
        if attempt.candidate is None or attempt.calls or attempt.first_clause is None:
            return None
        key = (attempt.number, attempt.clauses, attempt.outcome == "complete")
        if key not in self._faults:
            self._faults[key] = fault_in(attempt.text, whole=key[2], question=self._question)
        return self._faults[key]

    def _facts_of(self, attempt: LLMRequest) -> Facts:
        if attempt.number not in self._facts:
            called = facts_of_calls([(call.function_name, call.arguments) for call in attempt.calls])
            self._facts[attempt.number] = called or facts_of(attempt.text)
        return self._facts[attempt.number]


def _why(chosen: RequestState | None, views: Sequence[RequestState], there: Sequence[RequestState]) -> str:
    if chosen is None:
        return "no candidate could be used"
    if chosen.dismissed is not None:
        return "nothing better came, although " + chosen.dismissed
    if not chosen.support:
        return "it was the first to speak, and none was whole by the deadline"
    if len(there) == 1:
        return "it was the only one that was whole"
    if chosen.support * 2 > len(views):
        return "most candidates agree with it"
    if any(view.support > 1 for view in there):
        return "more candidates agree with it than with another"
    return "no two candidates agree, and it was there first"
