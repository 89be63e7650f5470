from typing import Any

import pytest

from latency.record.turn import TurnRecord
from latency.report.llm.figures import llm_figures
from tests.latency.budgeted_turns import attempt, response, turn


def tokens(into: int, out: int, *, estimated: bool = False) -> dict[str, Any]:
    return {"in": into, "out": out, "estimated": estimated}


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


def budgeted_turns() -> list[TurnRecord]:
    """One turn of each verdict."""
    hold = [{"at": 2.43, "kind": "hold", "text": "One moment."}]
    return [
        turn([attempt("large", 2.0, 2.4, model="sim:sonnet", tokens=tokens(100, 20))], responses=[response()]),
        turn(
            [
                attempt("large", 2.0, None, "cancelled", model="sim:sonnet", tokens=tokens(100, 10, estimated=True)),
                attempt("fast", 2.2, 2.3, model="sim:groq", tokens=tokens(100, 20)),
            ],
            responses=[response(limit="turn", deadline=2.35)],
        ),
        turn(
            [attempt("large", 2.0, 2.95, tokens=tokens(100, 20)), attempt("fast", 2.2, None, "failed")],
            responses=[response(said=hold)],
        ),
        turn(
            [
                attempt("fast", 2.0, None, "failed", tokens=tokens(100, 0)),
                attempt("large", 2.1, None, "cancelled", end=9.0),
                attempt("fast", 2.1, None, "failed"),
            ],
            responses=[response(policy="race", reason="both at once", limit="floor", charged="endpointing",
                                gave_up="fast: down")],
        ),
    ]  # fmt: skip


def test_verdicts_lateness_deadlines_and_policies_are_counted() -> None:
    found = llm_figures(budgeted_turns(), budget=0.45, policy="adaptive")
    assert (found.within, found.rescued, found.bridged, found.missed) == (1, 1, 1, 1)
    assert (found.judged, found.share_within, found.textless) == (4, 0.5, 1)
    assert (found.overshoot_ms.n, found.overshoot_ms.p50, found.overshoot_ms.max) == (3, 0.0, 500.0)
    assert (found.bridged_answer_ms.n, found.bridged_answer_ms.max) == (1, 500.0)
    assert found.deadlines == {"llm": 2, "turn": 1, "floor": 1}
    assert (found.charged, found.phrases) == ({"endpointing": 1}, {"hold": 1})
    assert (found.policy, found.policies) == ("adaptive", {"fallback": 3, "race": 1})
    assert found.reasons == {"large first": 3, "both at once": 1}
    assert [one.judged.verdict for one in found.turns] == ["within", "rescued", "bridged", "missed"]


def test_waste_is_what_was_asked_beyond_the_first_and_the_tokens_nobody_heard() -> None:
    waste = llm_figures(budgeted_turns(), budget=0.45, policy=None).waste
    assert (waste.extra, waste.spoken, waste.cancelled, waste.failed) == (4, 1, 1, 2)
    # Cancelled: 110 by estimate; failed: 100; of 570 in all.
    assert (waste.tokens, waste.tokens_estimated, waste.tokens_total) == (210, 110, 570)
    assert waste.share == pytest.approx(210 / 570, abs=0.0001)


def test_a_tier_is_described_by_its_model_and_what_became_of_its_requests() -> None:
    tiers = llm_figures(budgeted_turns(), budget=0.45, policy=None).tiers
    large, fast = tiers["large"], tiers["fast"]
    assert (large.model, large.attempts, large.spoken, large.cancelled, large.failed) == ("sim:sonnet", 4, 2, 2, 0)
    assert (fast.model, fast.attempts, fast.spoken, fast.cancelled, fast.failed) == ("sim:groq", 4, 1, 0, 3)
    assert (large.first_clause_ms.n, large.first_clause_ms.max) == (2, 950.0)


def test_the_rest_of_another_requests_answer_is_in_no_first_clause_percentile() -> None:
    attempts = [attempt("large", 2.0, 2.3), attempt("fast", 4.0, 4.9, "spoken", continues=0)]
    tiers = llm_figures([turn(attempts, responses=[response()])], budget=0.45, policy=None).tiers
    assert (tiers["fast"].spoken, tiers["fast"].first_clause_ms.n) == (1, 0)


def test_each_answer_of_a_turn_with_a_tool_has_a_first_request() -> None:
    attempts = [attempt("large", 2.0, None, "called", response=4), attempt("large", 2.3, 2.4, response=5)]
    found = llm_figures([turn(attempts, responses=[response(4), response(5)])], budget=0.45, policy=None)
    assert (found.waste.extra, found.waste.tokens, found.waste.share) == (0, None, None)
    assert (found.tiers["large"].called, found.tiers["large"].spoken) == (1, 1)


def test_a_withdrawn_answer_is_waste_whatever_was_chosen_of_it() -> None:
    attempts = [attempt("large", 1.2, 1.4, response=0, tokens=tokens(90, 10)), attempt("large", 1.9, 2.1, response=1)]
    withdrawn = response(0, commit=None, deadline=None, limit=None)
    server_turn = {
        "turn": 0,
        "marks": {"turn_commit": 2.0},
        "attempts": attempts,
        "responses": [withdrawn, response(1)],
    }
    turns = [turn(attempts, responses=[withdrawn, response(1)], server_turns=[server_turn])]
    found = llm_figures(turns, budget=0.45, policy=None)
    assert (found.tiers["large"].spoken, found.tiers["large"].cancelled, found.tiers["large"].withdrawn) == (1, 0, 1)
    assert (found.waste.extra, found.waste.withdrawn, found.waste.tokens) == (0, 1, 100)


def test_a_withdrawn_request_is_paid_for_and_answers_nothing() -> None:
    attempts = [
        attempt("large", 1.2, 1.4, "withdrawn", tokens=tokens(90, 10)),
        attempt("large", 1.9, 2.1, tokens=tokens(90, 20)),
        attempt("fast", 2.05, None, "cancelled", tokens=tokens(90, 0)),
    ]
    found = llm_figures([turn(attempts)], budget=0.45, policy=None)
    assert (found.within, found.rescued) == (1, 0)
    assert (found.tiers["large"].spoken, found.tiers["large"].withdrawn) == (1, 1)
    assert (found.waste.extra, found.waste.cancelled, found.waste.withdrawn, found.waste.tokens) == (1, 1, 1, 190)


@pytest.mark.parametrize(
    ("played", "interrupted", "lost"),
    [("One, two,", True, 30), ("", True, 60), ("One, two, three, four.", True, 0), (None, True, 0), ("", False, 0)],
)
def test_the_words_of_an_interrupted_answer_that_were_not_played_were_paid_for_in_vain(
    played: str | None, interrupted: bool, lost: int
) -> None:
    attempts = [
        attempt("large", 1.2, 1.4, response=0, tokens=tokens(90, 10)),
        attempt("large", 2.0, 2.2, response=1, tokens=tokens(90, 60)),
    ]
    responses = [response(0, commit=None, deadline=None, limit=None), response(1)]
    said = {"said": "One, two, three, four.", "played": played, "interrupted": interrupted}
    server_turn = {"turn": 0, "marks": {"turn_commit": 2.0}, "attempts": attempts, "responses": responses, **said}
    turns = [turn(attempts, responses=responses, server_turns=[server_turn])]
    waste = llm_figures(turns, budget=0.45, policy=None).waste
    assert waste.tokens_interrupted == pytest.approx(lost, abs=6)
    assert waste.tokens == 100 + (waste.tokens_interrupted or 0)


def test_a_model_without_a_budget_has_no_policies_deadlines_or_tokens() -> None:
    found = llm_figures([turn([attempt("responder", 2.0, 2.1)])], budget=0.45, policy=None)
    assert (found.within, found.policies, found.deadlines, found.phrases) == (1, {}, {}, {})
    assert (found.waste.extra, found.waste.tokens, found.waste.share) == (0, None, None)


def test_a_turn_that_wants_no_answer_is_listed_and_not_counted() -> None:
    found = llm_figures([turn([attempt("large", 2.0, 2.4)], wants_answer=False)], budget=0.45, policy=None)
    assert (found.judged, found.share_within, found.overshoot_ms.n) == (0, None, 0)
    assert [one.counted for one in found.turns] == [False]
