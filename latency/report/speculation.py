"""What came of answers that were begun before their turn was committed: how many, how many for nothing, what was saved.

A server that speculates reports it with each of its turns; from one that does not, a request ahead of the commit tells.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from latency.judge.verdict import Reported, in_use
from latency.record.marks import ROUNDING, Mark
from latency.record.turn import TurnRecord
from latency.report.llm_budget import USED, server_turns
from latency.report.stats import Spread


@dataclass(frozen=True, slots=True, kw_only=True)
class Speculation:
    """Answers that were begun before the turn was committed; None when nothing is on record that would tell."""

    started: int | None
    discarded: int | None
    saved_p50_ms: float | None
    """By how much later the first clause of a used one would have been there, had it been asked for at the commit."""
    used: int | None
    spoken_ahead: int | None
    """Of the used ones, those of which words were synthesised before the commit."""
    hints: int | None
    """How often a short silence hinted that the turn may be over; None from a server that does not say."""


class _Ahead(NamedTuple):
    """What a server's turn began ahead of its commit."""

    started: int
    discarded: int
    used: int
    saved: Sequence[float]
    """Seconds, of the used ones of which that is known."""


def speculation_figures(turns: Iterable[TurnRecord]) -> Speculation:
    """Sum up the server's turns, also those that were never committed."""
    own = list(server_turns(turns))
    reports = [report for one in own if (report := one.get("speculation")) is not None]
    ahead = [_reported(one, one["speculation"]) if one.get("speculation") else _inferred(one) for one in own]
    known = bool(reports) or any(one.get("attempts") for one in own)
    return Speculation(
        started=sum(one.started for one in ahead) if known else None,
        discarded=sum(one.discarded for one in ahead) if known else None,
        saved_p50_ms=Spread.of(seconds for one in ahead for seconds in one.saved).p50,
        used=sum(one.used for one in ahead) if known else None,
        spoken_ahead=sum(bool(report.get("spoken_ahead")) for report in reports) if reports else None,
        hints=sum(report.get("hints") or 0 for report in reports) if reports else None,
    )


def head_start(server_turn: Mapping[str, Any], request: float) -> float | None:
    """Seconds by which an answer came sooner because it was asked for before the commit; None without a commit.

    The commit less the request, but never more than the answer took to its first clause: a clause that is ready
    before the commit waits for it.

    Args:
        server_turn: A turn as the server reports it.
        request: When the answer was asked for, seconds on the same clock.
    """
    marks = server_turn.get("marks") or {}
    commit, ready = marks.get(Mark.TURN_COMMIT), marks.get(Mark.CLAUSE_READY)
    if commit is None:
        return None
    made = (one for one in _used(server_turn) if abs(one["request"] - request) <= ROUNDING)
    instants = [commit, ready, *(one.get("first_clause") or one.get("end") for one in made)]
    return max(0.0, float(min(at for at in instants if at is not None)) - request)


def _reported(server_turn: Mapping[str, Any], report: Mapping[str, Any]) -> _Ahead:
    request, used = report.get("request"), bool(report.get("used"))
    # A request that was made ahead and lost against a later one has saved nothing.
    heard = request is not None and any(abs(_request(one) - request) <= ROUNDING for one in _used(server_turn))
    saved = head_start(server_turn, request) if used and heard and request is not None else None
    return _Ahead(report.get("started") or 0, report.get("discarded") or 0, int(used), [] if saved is None else [saved])


def _inferred(server_turn: Mapping[str, Any]) -> _Ahead:
    commit = (server_turn.get("marks") or {}).get(Mark.TURN_COMMIT)
    commit = math.inf if commit is None else commit
    ahead = [one for one in server_turn.get("attempts") or () if _request(one) < commit]
    used = [one for one in _used(server_turn) if _request(one) < commit < math.inf]
    saved = [seconds for one in used if (seconds := head_start(server_turn, one["request"])) is not None]
    return _Ahead(len(ahead), len(ahead) - len(used), len(used), saved)


def _used(server_turn: Mapping[str, Any]) -> list[Reported]:
    attempts = in_use(server_turn.get("attempts") or (), server_turn.get("responses") or ())
    return [one for one in attempts if one.get("outcome") in USED and one.get("request") is not None]


def _request(attempt: Reported) -> float:
    request = attempt.get("request")
    return math.inf if request is None else float(request)
