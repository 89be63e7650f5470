"""Turns under an LLM budget, as the lines of a run folder hold them: times in seconds, the commit at 2.0."""

from typing import Any

from latency.record.turn import TurnRecord


def turn(attempts: list[dict[str, Any]], *, commit: float | None = 2.0, **values: Any) -> TurnRecord:
    return TurnRecord.from_json(
        {
            "session": "s",
            "turn": 0,
            "wants_answer": True,
            "speech": [[1, 1.8]],
            "attempts": attempts,
            "marks": {"turn_commit": commit, **values.pop("marks", {})},
            **values,
        }  # fmt: skip
    )


def attempt(
    tier: str, request: float, clause: float | None, outcome: str | None = "spoken", **more: Any
) -> dict[str, Any]:
    return {"tier": tier, "request": request, "first_token": clause, "first_clause": clause, "outcome": outcome, **more}


def response(number: int = 0, *, deadline: float | None = 2.45, **more: Any) -> dict[str, Any]:
    usual = {"response": number, "policy": "fallback", "reason": "large first", "commit": 2.0, "deadline": deadline}
    return {**usual, "limit": "llm", "charged": None, "said": [], "gave_up": None, "tier": None, **more}
