from typing import Any

import pytest

from latency.record.json_form import from_json
from latency.record.requests import RequestRecord
from latency.report.llm.requests import cut_short, failures, outcome_of, progress_of


def request(outcome: str, **told: Any) -> RequestRecord:
    return from_json(RequestRecord, {"tier": "large", "request": 2.0, "end": 2.4, "outcome": outcome, **told})


def test_each_failure_is_counted_as_it_was_observed() -> None:
    refused, late = "sim:x at w refused the connection.", "sim:x at w did not answer in time."
    found = failures(
        [
            request("failed", failed=late),
            request("failed", failed=refused),
            request("failed", failed=refused),
            request("failed", failed=late, first_token=2.2),
            request("failed"),
            request("spoken"),
            request("cancelled"),
        ]
    )
    assert found == {
        "sim:x at w refused the connection": 2,
        "sim:x at w did not answer in time": 1,
        "sim:x at w did not answer in time, after its first words": 1,
        "no reason given": 1,
    }
    assert next(iter(found)) == "sim:x at w refused the connection", "the most frequent first"


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({}, "nothing yet"),
        ({"alive": None, "first_token": None}, "nothing yet"),
        ({"alive": 2.1}, "only a sign of life"),
        ({"alive": 2.1, "first_token": 2.2}, "only the beginning of a clause"),
        ({"alive": 2.1, "first_token": 2.2, "first_clause": 2.3}, "words too"),
    ],
)
def test_what_there_was_of_a_cancelled_request_tells_dead_from_slow(told: dict[str, Any], words: str) -> None:
    assert progress_of(request("cancelled", **told)) == words


def test_cancelled_requests_are_counted_with_how_long_they_were_given() -> None:
    found = cut_short(
        [
            request("cancelled"),
            request("cancelled", end=2.6),
            request("cancelled", request=None),
            request("cancelled", alive=2.1),
            request("failed"),
        ]
    )
    assert {what: (one.n, one.after_p50_ms) for what, one in found.items()} == {
        "nothing yet": (3, 500.0),
        "only a sign of life": (1, 400.0),
    }


@pytest.mark.parametrize(
    ("attempt", "text"),
    [
        ({"outcome": "spoken"}, "spoken"),
        ({"outcome": "called", "calls": ["set_timer", "get_time"]}, "called set_timer, get_time"),
        ({"outcome": "called", "calls": []}, "called tools"),
        ({"outcome": "failed", "failed": "HTTP 503."}, "failed: HTTP 503"),
        ({"outcome": "failed", "failed": None}, "failed: no reason given"),
        ({"outcome": None}, "unfinished"),
    ],
)
def test_the_outcome_of_a_request_is_a_few_words(attempt: dict[str, Any], text: str) -> None:
    assert outcome_of(from_json(RequestRecord, attempt)) == text
