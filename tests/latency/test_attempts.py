from typing import Any

import pytest

from latency.attempts import llm_figures, speculation_figures, verdict
from latency.turn import TurnRecord


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


def attempt(tier: str, request: float, clause: float | None, outcome: str = "spoken") -> dict[str, Any]:
    return {"tier": tier, "request": request, "first_token": clause, "first_clause": clause, "outcome": outcome}


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (turn([attempt("large", 2.0, 2.45)]), "within"),
        (turn([attempt("large", 1.9, 1.95)]), "within"),
        (turn([attempt("large", 2.0, None, "cancelled"), attempt("fast", 2.2, 2.4)]), "rescued"),
        (turn([attempt("large", 2.0, 2.46)]), "missed"),
        (turn([attempt("large", 2.0, None, "silent")]), "missed"),
        (turn([attempt("large", 2.0, 3.0)], marks={"clause_to_tts": 2.4}), "bridged"),
        (turn([attempt("large", 2.0, None, "failed")], marks={"clause_to_tts": 2.4}), "missed"),
        (turn([attempt("large", 2.0, None, "failed"), attempt("fast", 2.0, 2.3)]), "rescued"),
        (turn([attempt("large", 2.0, None, "cancelled")], interrupted=True), None),
        (turn([attempt("large", 2.0, 2.2)], commit=None), None),
        (turn([]), None),
        (turn([], marks={"llm_request": 2.0, "llm_first_clause": 2.3}), "within"),
    ],
)
def test_a_turn_is_within_rescued_bridged_or_missed(asked: TurnRecord, expected: str | None) -> None:
    assert verdict(asked, 0.45) == expected


def test_figures_count_turns_and_describe_each_tier() -> None:
    turns = [
        turn([attempt("large", 2.0, 2.4)]),
        turn([attempt("large", 2.0, None, "cancelled"), attempt("fast", 2.2, 2.4)]),
        turn([attempt("large", 2.0, 2.6)]),
        turn([attempt("large", 2.0, 2.6)], wants_answer=False),
    ]
    found = llm_figures(turns, budget=0.45, policy="hedged")
    assert (found.within, found.rescued, found.bridged, found.missed) == (1, 1, 0, 1)
    assert (found.budget_ms, found.policy, found.overshoot_p99_ms) == (450.0, "hedged", None)
    assert list(found.tiers) == ["fast", "large"]
    assert (found.tiers["large"].attempts, found.tiers["large"].spoken) == (4, 3)
    assert found.tiers["fast"].first_clause_ms.p50 == 200.0


def test_overshoot_has_a_99th_percentile_from_a_hundred_turns_on() -> None:
    turns = [turn([attempt("large", 2.0, 2.4)])] * 99 + [turn([attempt("large", 2.0, 3.45)])]
    overshoot = llm_figures(turns, budget=0.45, policy=None).overshoot_p99_ms
    assert overshoot == pytest.approx(10.0)


def test_requests_ahead_of_the_commit_are_speculation_and_discarded_unless_spoken() -> None:
    attempts = [attempt("large", 1.8, 2.1), attempt("fast", 2.1, None, "lost")]
    spoken = {"marks": {"turn_commit": 2.0}, "attempts": attempts}
    withdrawn = {"marks": {}, "attempts": [attempt("large", 1.2, None, "cancelled")]}
    found = speculation_figures([turn([], server_turns=[withdrawn, spoken])])
    assert (found.started, found.discarded, found.saved_p50_ms) == (2, 1, 200.0)


def test_without_any_request_on_record_speculation_is_unknown() -> None:
    found = speculation_figures([turn([])])
    assert (found.started, found.discarded, found.saved_p50_ms) == (None, None, None)
