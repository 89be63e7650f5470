from typing import Any

import pytest

from latency.judge.session import SessionOutcome, accounts
from latency.judge.turn import Outcome, Unanswered
from latency.record.marks import Mark, Marks
from latency.record.requests import RequestRecord
from latency.record.session import InjectedFault, Session
from latency.record.turn import TurnRecord

SILENT = InjectedFault(turn=0, at=1.0, what="sim:sonnet never answers")


def turn(number: int = 0, **facts: Any) -> TurnRecord:
    return TurnRecord(**{"session": "tour", "turn": number, "wants_answer": True, "speech": ((1.0, 2.0),), **facts})


def attempt(tier: str, outcome: Any) -> RequestRecord:
    return RequestRecord(tier=tier, model="sim:sonnet", outcome=outcome)


RESCUED = turn(attempts=(attempt("large", "cancelled"), attempt("fast", "spoken")))
FAILED = Unanswered.FAILED
HEARD = Marks({Mark.FIRST_AUDIBLE: 4.0})


@pytest.mark.parametrize(
    ("outcome", "end", "reason"),
    [
        (Outcome(turn=turn(), answered=True), "answered", None),
        (Outcome(turn=RESCUED, answered=True), "rescued", None),
        (Outcome(turn=turn(failed="it broke", marks=HEARD), unanswered=FAILED), "apologised", "it broke"),
        (Outcome(turn=turn(failed="it broke"), unanswered=FAILED), "unanswered", "it broke"),
        (Outcome(turn=turn(), unanswered=Unanswered.NOTHING_HEARD), "unanswered", "nothing heard"),
        (Outcome(turn=turn(), unanswered=Unanswered.NO_RECORDING), "not judged", "recording lost"),
        (Outcome(turn=turn(wants_answer=False)), "no answer wanted", None),
    ],
)
def test_a_turn_has_one_end(outcome: Outcome, end: str, reason: str | None) -> None:
    session = SessionOutcome(recorded=True, session=Session(name="tour", injected=(SILENT,)), outcomes=(outcome,))
    (found,) = accounts([session], budget=0.45)
    assert (found.end, found.reason, found.faults) == (end, reason, (SILENT,))


def test_turns_that_were_never_played_are_accounted_for() -> None:
    session = Session(name="tour", never_sent=2, closed="the transport sent no audio for 8 s")
    judged = SessionOutcome(recorded=True, session=session, outcomes=(Outcome(turn=turn(), answered=True),))
    found = accounts([judged], budget=0.45)
    assert [(one.turn, one.end) for one in found] == [(0, "answered"), (1, "not played"), (2, "not played")]
    assert found[1].reason == "the call ended before: the transport sent no audio for 8 s"
