"""Speculative answers: how many were started and discarded, and how much time the used ones saved.

A speculating server reports it with each of its turns; without such a report, a request before the commit shows it.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from latency.judge.llm_budget import in_use
from latency.record.marks import ROUNDING, Mark
from latency.record.requests import RequestRecord
from latency.record.turn import ReportedTurn, ServerTurn, SpeculationRecord, TurnRecord
from latency.report.llm.requests import USED, server_turns, tokens_of
from latency.report.stats import Spread


@dataclass(frozen=True, slots=True, kw_only=True)
class Speculation:
    """Answers that were started before the turn was committed; None when the record does not mention them."""

    started: int | None
    discarded: int | None
    saved_p50_ms: float | None
    """How much later the first clause of a used one would have come with a request at the commit."""
    used: int | None
    spoken_ahead: int | None
    """Used ones whose first clause went to synthesis before the commit."""
    hints: int | None
    """How often a short silence hinted at the end of the turn; None from a server that does not report it."""
    early: int | None
    """The number started because the words read as finished, before silence or Smart Turn indicated the end."""
    discarded_tokens: int | None
    """Prompt and completion of the requests for discarded ones; None when no request reports any."""


class _Started(NamedTuple):
    """The speculative answers of one of the server's turns."""

    started: int
    discarded: int
    used: int
    saved: Sequence[float]
    """Seconds that the used ones saved, where known."""


def speculation_figures(turns: Iterable[TurnRecord]) -> Speculation:
    """Sum up the server's turns, including those that were never committed."""
    own = list(server_turns(turns))
    told = [(one, one.speculation if isinstance(one, ServerTurn) else None) for one in own]
    reports = [report for _, report in told if report]
    ahead = [_reported(one, report) if report else _inferred(one) for one, report in told]
    known = bool(reports) or any(one.attempts for one in own)
    spent = [(attempt.outcome, attempt.tokens) for one in own for attempt in one.attempts if attempt.tokens]
    return Speculation(
        started=sum(one.started for one in ahead) if known else None,
        discarded=sum(one.discarded for one in ahead) if known else None,
        saved_p50_ms=Spread.of(seconds for one in ahead for seconds in one.saved).p50,
        used=sum(one.used for one in ahead) if known else None,
        spoken_ahead=sum(report.spoken_ahead for report in reports) if reports else None,
        hints=sum(report.hints for report in reports) if reports else None,
        early=sum(report.early for report in reports) if reports else None,
        discarded_tokens=tokens_of(tokens for outcome, tokens in spent if outcome == "withdrawn") if spent else None,
    )


def head_start(turn: ReportedTurn, request: float) -> float | None:
    """Seconds that an answer gained by a request before the commit; None without a commit.

    It is the time from the request to the commit, but at most the time to the answer's first clause, because a clause
    that is ready before the commit waits for it.

    Args:
        turn: One of the server's.
        request: When the answer was requested, seconds on the same clock.
    """
    commit, ready = turn.marks.get(Mark.TURN_COMMIT), turn.marks.get(Mark.CLAUSE_READY)
    if commit is None:
        return None
    made = (one for at, one in _used(turn) if abs(at - request) <= ROUNDING)
    instants = [commit, ready, *(one.first_clause or one.end for one in made)]
    return max(0.0, min(at for at in instants if at is not None) - request)


def _reported(turn: ReportedTurn, report: SpeculationRecord) -> _Started:
    # A speculative request that lost to a later one has saved nothing.
    heard = report.request is not None and any(abs(at - report.request) <= ROUNDING for at, _ in _used(turn))
    saved = head_start(turn, report.request) if report.used and heard and report.request is not None else None
    return _Started(report.started, report.discarded, int(report.used), [] if saved is None else [saved])


def _inferred(turn: ReportedTurn) -> _Started:
    commit = turn.marks.get(Mark.TURN_COMMIT, math.inf)
    ahead = [one for one in turn.attempts if one.request is not None and one.request < commit]
    used = [at for at, _ in _used(turn) if at < commit < math.inf]
    saved = [seconds for at in used if (seconds := head_start(turn, at)) is not None]
    return _Started(len(ahead), len(ahead) - len(used), len(used), saved)


def _used(turn: ReportedTurn) -> list[tuple[float, RequestRecord]]:
    """The requests that were used, each with its time."""
    attempts = in_use(turn.attempts, turn.responses)
    return [(one.request, one) for one in attempts if one.outcome in USED and one.request is not None]
