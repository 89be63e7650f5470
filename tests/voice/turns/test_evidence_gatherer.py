"""What is known of the words before a silence, above all of a turn that goes on after it was taken for over."""

from typing import Any

import pytest

from voice.turns.evidence_gatherer import EvidenceGatherer

REQUESTS = {
    "Count from one to twenty.": True,
    "count from one to twenty": True,
    "what day is it today": True,
    "count from": False,
}


@pytest.mark.parametrize(
    ("committed", "text", "whole"),
    [
        ("", "count from one to twenty what day is it today", None),
        ("count from one to twenty", "count from one to twenty what day is it today", True),
        ("Count from one to twenty.", "Count from one to twenty. what day is it today", True),
        ("count from one to twenty", "count from one to twenty count from", None),
        ("count from one to twenty", "count from one to twenty", True),
    ],
)
def test_a_request_added_to_one_that_was_taken_for_over_is_whole(committed: str, text: str, whole: bool | None) -> None:
    judge: Any = None
    weighing = EvidenceGatherer(judge, reads=None, whole_request=REQUESTS.get)
    weighing.committed = committed
    assert weighing.weigh(text, 2.0).whole is whole
