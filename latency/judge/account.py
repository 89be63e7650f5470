"""What became of a turn in which something may have failed: each turn has exactly one end."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from latency.judge.outcome import Outcome
from latency.judge.session import SessionOutcome
from latency.judge.unanswered import LOST
from latency.judge.verdict import judge
from latency.record.marks import Mark
from latency.record.session import InjectedFault

End = Literal["answered", "rescued", "apologised", "unanswered", "not judged", "no answer wanted", "not played"]
"""Answered by what was asked first, or by another tier; the caller was told that there is no answer; or there was none.
"not judged": the recording or the record is lost. "not played": the call ended before the turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """One turn, what was broken in it, and what became of it."""

    session: str
    turn: int
    faults: tuple[InjectedFault, ...]
    end: End
    reason: str | None = None
    """Why it was not answered; None for a turn that was."""


def accounts(sessions: Iterable[SessionOutcome], *, budget: float) -> tuple[Account, ...]:
    """One account for every turn of the sessions' recordings, in order, also for turns that were never played.

    Args:
        sessions: as they were judged.
        budget: see `latency.judge.verdict.judge`.
    """
    return tuple(account for session in sessions for account in _of_session(session, budget))


def _of_session(judged: SessionOutcome, budget: float) -> Iterable[Account]:
    session = judged.session
    following = 0
    for outcome in judged.outcomes:
        end, reason = _end(outcome, budget)
        number = outcome.turn.turn
        faults = tuple(fault for fault in session.injected if fault.turn == number)
        yield Account(session=session.name, turn=number, faults=faults, end=end, reason=reason)
        following = number + 1
    for number in range(following, following + (session.never_sent or 0)):
        why = f"the call ended before: {session.closed or 'the replay was stopped'}"
        yield Account(session=session.name, turn=number, faults=(), end="not played", reason=why)


def _end(outcome: Outcome, budget: float) -> tuple[End, str | None]:
    turn = outcome.turn
    if not turn.wants_answer:
        return "no answer wanted", None
    if outcome.answered:
        judged = judge(turn, budget=budget)
        another = judged is not None and judged.tier is not None and judged.tier != judged.asked
        return ("rescued" if another else "answered"), None
    if outcome.unanswered in LOST:
        return "not judged", str(outcome.unanswered)
    reason = turn.failed or (str(outcome.unanswered) if outcome.unanswered else None)
    # What is heard after the end of a turn that got no answer is the reason why there is none.
    told = Mark.FIRST_AUDIBLE in turn.marks
    return ("apologised" if told else "unanswered"), reason
