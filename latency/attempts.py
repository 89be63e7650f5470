"""What became of the requests to language models: was the answer's text there in time, from whom, and what was wasted?

A turn is *within* when the tier that was asked first had a speakable clause by the deadline (commit + LLM budget),
*rescued* when only another tier had, *bridged* when mere opening words were spoken by then, else *missed*.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from latency.budget import Deadline
from latency.marks import Mark
from latency.stats import Spread, p99
from latency.turn import TurnRecord

Verdict = Literal["within", "rescued", "bridged", "missed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tier:
    """One language model of a run."""

    attempts: int
    spoken: int
    """Attempts whose text was spoken."""
    first_clause_ms: Spread
    """From a request to its first speakable clause."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Llm:
    """How the LLM budget was kept; the four verdicts are counts of turns."""

    budget_ms: float
    within: int
    rescued: int
    bridged: int
    missed: int
    overshoot_p99_ms: float | None
    policy: str | None
    tiers: dict[str, Tier]


@dataclass(frozen=True, slots=True, kw_only=True)
class Speculation:
    """Requests that were sent before the turn was committed; None when no request is on record."""

    started: int | None
    discarded: int | None
    saved_p50_ms: float | None
    """Head start of those whose text was spoken."""


def verdict(turn: TurnRecord, budget: float) -> Verdict | None:
    """How a turn kept its LLM budget (seconds); None when it was not committed, not asked or interrupted before."""
    commit = turn.marks.get(Mark.TURN_COMMIT)
    if commit is None or not (turn.attempts or Mark.LLM_REQUEST in turn.marks):
        return None
    clause = _answer_clause(turn)
    if clause is None and turn.interrupted:
        return None
    deadline = Deadline(commit + budget)
    if clause is not None and clause <= deadline.at:
        spoken = _spoken(turn.attempts)
        return "rescued" if spoken and spoken.get("tier") != turn.attempts[0].get("tier") else "within"
    words = None if turn.apologised else turn.marks.get(Mark.CLAUSE_TO_TTS)
    return "bridged" if words is not None and words <= deadline.at else "missed"


def llm_figures(turns: Sequence[TurnRecord], *, budget: float, policy: str | None) -> Llm:
    """Count the verdicts of the turns that want an answer, and what each tier did; `budget` in seconds."""
    judged = {id(turn): found for turn in turns if turn.wants_answer and (found := verdict(turn, budget))}
    count = Counter(judged.values())
    overshoots = [
        max(0.0, clause - turn.marks[Mark.TURN_COMMIT] - budget) * 1000
        for turn in turns
        if id(turn) in judged and (clause := _answer_clause(turn)) is not None
    ]
    return Llm(
        budget_ms=round(budget * 1000, 1),
        within=count["within"],
        rescued=count["rescued"],
        bridged=count["bridged"],
        missed=count["missed"],
        overshoot_p99_ms=p99(overshoots),
        policy=policy,
        tiers=_tiers(attempt for turn in turns for attempt in _all_attempts(turn)),
    )


def speculation_figures(turns: Sequence[TurnRecord]) -> Speculation:
    """Count the requests that ran ahead of their turn's commit, also in turns that were never committed."""
    started = discarded = 0
    saved: list[float] = []
    for turn in turns:
        for server_turn in turn.server_turns or ({"marks": turn.marks, "attempts": turn.attempts},):
            commit = (server_turn.get("marks") or {}).get(Mark.TURN_COMMIT)
            for attempt in server_turn.get("attempts") or ():
                if attempt.get("request") is None or (commit is not None and attempt["request"] >= commit):
                    continue
                started += 1
                if commit is not None and attempt.get("outcome") == "spoken":
                    saved.append(commit - attempt["request"])
                else:
                    discarded += 1
    known = any(_all_attempts(turn) for turn in turns)
    return Speculation(
        started=started if known else None,
        discarded=discarded if known else None,
        saved_p50_ms=Spread.of(saved).p50,
    )


def _answer_clause(turn: TurnRecord) -> float | None:
    spoken = _spoken(turn.attempts)
    clause = spoken.get("first_clause") if spoken else None
    return clause if clause is not None else turn.marks.get(Mark.LLM_FIRST_CLAUSE)


def _spoken(attempts: Iterable[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    return next((attempt for attempt in attempts if attempt.get("outcome") == "spoken"), None)


def _all_attempts(turn: TurnRecord) -> list[Mapping[str, Any]]:
    if turn.server_turns:
        return [attempt for server_turn in turn.server_turns for attempt in server_turn.get("attempts") or ()]
    return list(turn.attempts)


def _tiers(attempts: Iterable[Mapping[str, Any]]) -> dict[str, Tier]:
    by_tier: dict[str, list[Mapping[str, Any]]] = {}
    for attempt in attempts:
        by_tier.setdefault(str(attempt.get("tier") or "unnamed"), []).append(attempt)
    return {
        name: Tier(
            attempts=len(own),
            spoken=sum(attempt.get("outcome") == "spoken" for attempt in own),
            first_clause_ms=Spread.of(
                attempt["first_clause"] - attempt["request"]
                for attempt in own
                if attempt.get("request") is not None and attempt.get("first_clause") is not None
            ),
        )
        for name, own in sorted(by_tier.items())
    }
