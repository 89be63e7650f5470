"""Several drafts of one answer: checks them, compares them, and explains the choice. Pure.

A policy sees the result in `RequestState.dismissed` and `RequestState.support`.
"""

from collections import Counter
from collections.abc import Sequence

from latency.record.requests import Vote
from voice.llm.answer.llm_request import LLMRequest
from voice.llm.draft_facts import Facts, facts_of, facts_of_calls, fault_in
from voice.llm.policy.situation import RequestState


class Candidates:
    """Judges the candidates of one answer.

    Args:
        question: the caller's words; None if unknown.
    """

    def __init__(self, question: str | None) -> None:
        self._question = question or ""
        self._faults: dict[tuple[int, int, bool], str | None] = {}
        self._facts: dict[int, Facts] = {}
        self.vote: Vote | None = None
        """How the answer was picked; None before that, and for an answer without candidates."""

    def compare(self, requests: Sequence[LLMRequest]) -> None:
        """Note each candidate's fault, and the number of candidates that agree with it, in its state."""
        candidates = [one for one in requests if one.state.candidate is not None]
        for one in candidates:
            one.state.dismissed = self._fault_in(one)
        whole = [one for one in candidates if one.state.outcome == "complete" or one.state.called is not None]
        stated = {one.state.number: self._facts_of(one) for one in whole if one.state.dismissed is None}
        agreeing = Counter(stated.values())
        for one in candidates:
            one.state.support = agreeing[stated[one.state.number]] if one.state.number in stated else 0

    def pick(self, requests: Sequence[LLMRequest], number: int) -> None:
        """Note why the request with this number is spoken, if there are candidates and none was picked before."""
        self.compare(requests)
        states = [one.state for one in requests if one.state.candidate is not None]
        if not states or self.vote is not None:
            return
        chosen = next((state for state in states if state.number == number), None)
        there = [state for state in states if state.support]
        self.vote = Vote(
            candidates=len(states),
            there=len(there),
            agreeing=chosen.support if chosen else 0,
            dismissed=tuple(why for state in states if (why := state.failed or state.dismissed) is not None),
            why=_why(chosen, states, there),
        )

    def _fault_in(self, request: LLMRequest) -> str | None:
        """The fault in a candidate; checked again whenever it has grown."""
        state = request.state
        if request.calls or state.first_clause is None:
            return None
        key = (state.number, state.clauses, state.outcome == "complete")
        if key not in self._faults:
            self._faults[key] = fault_in(request.text, whole=key[2], question=self._question)
        return self._faults[key]

    def _facts_of(self, request: LLMRequest) -> Facts:
        number = request.state.number
        if number not in self._facts:
            called = facts_of_calls([(call.function_name, call.arguments) for call in request.calls])
            self._facts[number] = called or facts_of(request.text)
        return self._facts[number]


def _why(chosen: RequestState | None, states: Sequence[RequestState], there: Sequence[RequestState]) -> str:
    if chosen is None:
        return "no candidate could be used"
    if chosen.dismissed is not None:
        return "nothing better came, although " + chosen.dismissed
    if not chosen.support:
        return "it was the first to speak, and none was whole by the deadline"
    if len(there) == 1:
        return "it was the only one that was whole"
    if chosen.support * 2 > len(states):
        return "most candidates agree with it"
    if any(state.support > 1 for state in there):
        return "more candidates agree with it than with another"
    return "no two candidates agree, and it was there first"
