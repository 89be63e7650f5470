from dataclasses import replace
from typing import Any

import pytest

from latency.judge.llm_budget import is_answerless, judge
from latency.record.turn import HangRecord, TurnRecord
from tests.latency.budgeted_turns import attempt, response, turn


def hold(at: float, text: str = "One moment.") -> dict[str, Any]:
    return {"at": at, "kind": "hold", "text": text}


WITHDRAWN = response(0, deadline=None, commit=None, limit=None)
CANCELLED = attempt("large", 2.0, None, "cancelled", end=2.44, response=0)


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
        (turn([], marks={"llm_request": 2.0, "llm_first_clause": 2.3}), "within"),
    ],
)
def test_without_an_enforced_deadline_the_commit_and_the_budget_judge(asked: TurnRecord, expected: str | None) -> None:
    judged = judge(asked, budget=0.45)
    assert judged is not None
    assert (judged.verdict, judged.policy) == (expected, None)


def test_a_turn_that_asked_no_model_is_not_judged() -> None:
    assert judge(turn([]), budget=0.45) is None


@pytest.mark.parametrize(
    ("attempts", "responses", "values", "expected"),
    [
        pytest.param([attempt("large", 2.0, 2.5)], [response(deadline=2.6)], {}, "within", id="a later deadline"),
        pytest.param([attempt("large", 2.0, 2.3)], [response(deadline=2.2)], {}, "missed", id="an earlier deadline"),
        pytest.param(
            [CANCELLED, attempt("fast", 2.2, 2.4, response=0)], [response()], {}, "rescued", id="another tier"
        ),
        pytest.param(
            [attempt("large", 2.0, None, "cancelled"), attempt("large", 2.2, 2.4)],
            [response(policy="hedged")], {}, "within", id="the same tier, asked again",
        ),
        pytest.param(
            [attempt("large", 2.0, 3.0, response=0)], [response(said=[hold(2.43)])], {}, "bridged", id="a phrase"
        ),
        pytest.param(
            [attempt("large", 2.0, 3.0, response=0)], [response(said=[hold(2.46)])], {}, "missed", id="a late phrase"
        ),
        pytest.param(
            [attempt("large", 2.0, None, "failed", end=2.5)], [response(said=[hold(2.43)], gave_up="large: down")],
            {}, "missed", id="a phrase, and then nothing",
        ),
        pytest.param(
            [CANCELLED], [response(gave_up="no language model answered in time")], {"marks": {"clause_to_tts": 2.4}},
            "missed", id="an apology in time",
        ),
        pytest.param(
            [attempt("fast", 2.0, 2.1, response=0)], [response()], {"marks": {"clause_to_tts": 2.47}}, "missed",
            id="text that was held back for too long",
        ),
        pytest.param(
            [attempt("large", 2.0, 2.5, response=0)], [response(said=[hold(2.43)])],
            {"marks": {"clause_to_tts": 2.435, "llm_first_clause": 2.51}}, "bridged", id="first words were the phrase",
        ),
        pytest.param(
            [attempt("large", 2.0, None, "cancelled", end=2.4)], [response()], {"interrupted": True}, None,
            id="interrupted before the deadline",
        ),
        pytest.param(
            [attempt("large", 2.0, None, "cancelled", end=3.0)], [response()], {"interrupted": True}, "missed",
            id="interrupted after the deadline",
        ),
        pytest.param(
            [attempt("large", 2.0, None, "cancelled", end=3.0)], [response(said=[hold(2.43)])], {"interrupted": True},
            "bridged", id="interrupted after a phrase",
        ),
        pytest.param(
            [attempt("large", 1.2, 1.4, response=0), attempt("large", 2.0, 2.6, response=1)],
            [WITHDRAWN, response(1)], {}, "missed", id="words of a withdrawn answer are not heard",
        ),
        pytest.param(
            [attempt("large", 2.0, None, "called", response=0), attempt("large", 2.3, 2.44, response=1)],
            [response(), response(1, deadline=2.75)], {}, "within", id="a tool, and the answer by the first deadline",
        ),
        pytest.param(
            [attempt("large", 2.0, None, "called", response=0), attempt("large", 2.3, 2.6, response=1)],
            [response(), response(1, deadline=2.75)], {}, "missed", id="a tool, and the answer by the second deadline",
        ),
        pytest.param(
            [attempt("large", 2.0, None, "called", response=0), attempt("fast", 2.1, 2.3, response=1)],
            [response(), response(1)], {}, "within", id="the answer after a tool asked another tier first",
        ),
        pytest.param([attempt("large", 2.0, None, "cancelled", response=0)], [WITHDRAWN], {}, None, id="withdrawn"),
        pytest.param([attempt("large", None, None)], [response(deadline=None)], {"commit": None}, None, id="no clock"),
    ],
)  # fmt: skip
def test_the_deadline_that_was_enforced_judges(
    attempts: list[dict[str, Any]], responses: list[dict[str, Any]], values: dict[str, Any], expected: str | None
) -> None:
    judged = judge(turn(attempts, responses=responses, **values), budget=0.45)
    assert judged is not None
    assert judged.verdict == expected


def test_a_judgement_says_who_spoke_why_and_how_late() -> None:
    said = [hold(2.52), {"at": 3.4, "kind": "delay", "text": "Said too late."}]
    told = response(
        reason="large is too slow these days", deadline=2.53, limit="floor", charged="endpointing", said=said
    )
    attempts = [attempt("large", 2.0, None, "cancelled"), attempt("fast", 2.4, 2.85, model="sim:groq-fast")]
    judged = judge(turn(attempts, responses=[told]), budget=0.45)
    assert judged is not None
    assert (judged.asked, judged.tier, judged.model) == ("large", "fast", "sim:groq-fast")
    assert (judged.policy, judged.reason) == ("fallback", "large is too slow these days")
    assert (judged.limit, judged.charged, judged.phrases) == ("floor", "endpointing", ("One moment.",))
    assert (judged.late_ms, judged.lateness) == (pytest.approx(320), "320 ms")


@pytest.mark.parametrize(("clause", "lateness"), [(2.4, None), (2.45, None), (2.4503, "under 1 ms"), (2.5, "50 ms")])
def test_lateness_is_told_of_late_text_only(clause: float, lateness: str | None) -> None:
    judged = judge(turn([attempt("large", 2.0, clause)]), budget=0.45)
    assert judged is not None
    assert judged.lateness == lateness


@pytest.mark.parametrize(
    ("attempts", "responses", "answerless"),
    [
        ([], [], False),
        ([attempt("responder", 2.0, None, "silent")], [], False),
        ([attempt("large", 2.0, None, "failed")], [], True),
        ([attempt("large", 2.0, None, "failed"), attempt("fast", 2.1, 2.2)], [], False),
        ([CANCELLED], [response(gave_up="no language model answered in time")], True),
        ([CANCELLED], [response(said=[hold(2.43)])], True),
        ([attempt("large", 2.0, 2.9)], [response(said=[hold(2.43)])], False),
        ([attempt("large", 2.0, 2.9)], [response(gave_up="large: it broke off")], False),
        ([attempt("large", 1.0, 1.5, response=0), {**CANCELLED, "response": 1}],
         [WITHDRAWN, response(1, said=[hold(2.43)])], True),
    ],
)  # fmt: skip
def test_apologies_and_phrases_alone_are_no_answer(
    attempts: list[dict[str, Any]], responses: list[dict[str, Any]], answerless: bool
) -> None:
    assert is_answerless(turn(attempts, responses=responses)) is answerless


@pytest.mark.parametrize("ended_by", ["recogniser_failed", "nothing_heard", "own_voice"])
def test_what_follows_words_that_were_not_recognised_is_no_answer(ended_by: str) -> None:
    assert is_answerless(replace(turn([attempt("large", 2.0, 2.2)]), ended_by=ended_by))


@pytest.mark.parametrize("answered", [True, False])
def test_the_reason_why_something_hung_is_no_answer(answered: bool) -> None:
    hung = replace(turn([attempt("large", 2.0, 2.2)]), hung=HangRecord(part="synthesis", answered=answered))
    assert is_answerless(hung) is not answered
