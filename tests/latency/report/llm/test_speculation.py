from typing import Any

import pytest

from latency.record.contributions import CONTRIBUTIONS
from latency.record.turn import TurnRecord
from latency.report.critical_path import stages
from latency.report.llm.speculation import speculation_figures

COMMIT = 2.4
MARKS = {"vad_stop": 2.2, "eager_hint": 2.1, "transcript_final": 2.3, "turn_commit": COMMIT, "first_audible": 2.6}


def attempt(request: float, clause: float | None, outcome: str = "spoken") -> dict[str, Any]:
    return {"tier": "large", "request": request, "first_token": clause, "first_clause": clause, "outcome": outcome}


def report(*attempts: dict[str, Any], ahead: dict[str, Any] | None = None, **marks: float | None) -> dict[str, Any]:
    """A server's turn."""
    return {"turn": 0, "marks": MARKS | marks, "attempts": list(attempts), "speculation": ahead}


def told(**values: Any) -> dict[str, Any]:
    return {"hints": 1, "started": 1, "discarded": 0, "used": True, "request": 2.12, "spoken_ahead": False, **values}


def turn(*server_turns: dict[str, Any]) -> TurnRecord:
    last = server_turns[-1] if server_turns else {}
    return TurnRecord.from_json(
        {
            "session": "s",
            "turn": 0,
            "wants_answer": True,
            "speech": [[1, 2]],
            "server_turns": list(server_turns),
            "attempts": last.get("attempts", []),
            "marks": last.get("marks", {}),
        }  # fmt: skip
    )


def test_reports_are_summed_up_over_all_server_turns() -> None:
    resumed = report(
        attempt(1.5, None, "withdrawn") | {"tokens": {"in": 40, "out": 2}},
        ahead=told(hints=2, started=2, discarded=2, used=False, request=None, early=1),
        turn_commit=None,
    )
    used = report(attempt(2.12, 2.28), ahead=told(spoken_ahead=True))
    idle = report(attempt(2.4, 2.6), ahead=told(hints=0, started=0, used=False, request=None))
    found = speculation_figures([turn(resumed, used), turn(idle)])
    assert (found.hints, found.started, found.discarded, found.used) == (3, 3, 2, 1)
    assert found.spoken_ahead == 1
    assert (found.early, found.discarded_tokens) == (1, 42)
    assert found.saved_p50_ms == pytest.approx(160.0)


@pytest.mark.parametrize(
    ("clause", "ready", "saved"),
    [
        # It was ready before the commit and waited for it: all it had taken is saved, and no more.
        (2.28, None, 160.0),
        # The commit found it under way.
        (2.55, None, 280.0),
        # The words were handed on behind the commit, but had been whole before.
        (2.41, 2.3, 180.0),
        (None, None, 280.0),
    ],
)
def test_what_is_saved_is_what_the_answer_would_have_been_waited_for(
    clause: float | None, ready: float | None, saved: float
) -> None:
    found = speculation_figures([turn(report(attempt(2.12, clause), ahead=told(), clause_ready=ready))])
    assert found.saved_p50_ms == pytest.approx(saved)


def test_without_reports_requests_ahead_of_the_commit_are_speculation_and_discarded_unless_used() -> None:
    spoken = report(attempt(2.2, 2.5), attempt(2.5, None, "cancelled"))
    withdrawn = report(attempt(1.2, None, "cancelled"), turn_commit=None)
    found = speculation_figures([turn(withdrawn, spoken)])
    assert (found.started, found.discarded, found.used, found.saved_p50_ms) == (2, 1, 1, 200.0)
    assert (found.hints, found.spoken_ahead) == (None, None)


def test_without_any_request_on_record_speculation_is_unknown() -> None:
    found = speculation_figures([turn()])
    assert (found.started, found.discarded, found.used, found.saved_p50_ms) == (None, None, None, None)


@pytest.mark.parametrize(
    "marks",
    [
        pytest.param({"llm_request": 2.12, "llm_first_token": 2.2, "clause_ready": 2.28, "llm_first_clause": 2.405,
                      "clause_to_tts": 2.405, "tts_first_sample": 2.45, "first_sent": 2.5}, id="held by the gate"),
        pytest.param({"llm_request": 2.12, "llm_first_token": 2.2, "clause_ready": 2.28, "llm_first_clause": 2.28,
                      "clause_to_tts": 2.28, "tts_first_sample": 2.33, "first_sent": 2.405}, id="synthesised ahead"),
        pytest.param({"llm_request": 2.12, "llm_first_token": 2.45, "clause_ready": 2.48, "llm_first_clause": 2.48,
                      "clause_to_tts": 2.48, "tts_first_sample": 2.53, "first_sent": 2.54}, id="late"),
    ],
)  # fmt: skip
def test_the_parts_of_a_turn_that_was_answered_ahead_still_add_up_to_it(marks: dict[str, float]) -> None:
    asked = turn(report(attempt(2.12, marks["clause_ready"]), ahead=told(), **marks))
    parts = asked.contributions()
    assert sum(part or 0.0 for part in parts.values()) == pytest.approx(0.6)
    assert parts["pipeline"] == pytest.approx(0.0)
    assert [parts[key] for key in CONTRIBUTIONS[:3]] == [pytest.approx(0.2), pytest.approx(0.1), pytest.approx(0.1)]
    # The model's own time before the commit overlaps with the wait for it.
    assert parts["llm_inference"] == pytest.approx(max(0.0, marks["llm_first_token"] - COMMIT))
    model = next(stage for stage in stages(asked) if stage.key == "llm_inference")
    assert model.work == (2.12, marks["llm_first_token"])
    assert model.waited == pytest.approx(parts["llm_inference"])


def test_a_request_made_ahead_that_lost_has_saved_nothing() -> None:
    rescued = report(attempt(2.12, None, "cancelled"), {**attempt(2.5, 2.6), "tier": "fast"}, ahead=told())
    silent = report(attempt(2.12, None, "failed"), ahead=told())
    found = speculation_figures([turn(rescued), turn(silent)])
    assert (found.used, found.saved_p50_ms) == (2, None)
