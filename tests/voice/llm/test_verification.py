"""What a verifier's reply is taken for."""

import pytest

from voice.llm.verification import Verdict, verdict_of


@pytest.mark.parametrize("reply", ["YES", "yes.", "“Yes”", " **YES** "])
def test_a_plain_yes_is_agreement(reply: str) -> None:
    assert verdict_of(reply) == Verdict()


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        ("NO: it is 391, not 392", "it is 391, not 392"),
        ("No. Canberra is\nthe capital.", "Canberra is the capital."),
        ("NO", "the verifier says no more"),
        ("no: " + "x" * 500, "x" * 200),
    ],
)
def test_a_no_names_the_fault(reply: str, fault: str) -> None:
    assert verdict_of(reply) == Verdict(fault)


@pytest.mark.parametrize("reply", ["", "Yes, but it is 391.", "The answer is right.", "Nothing is wrong", "Yesterday"])
def test_anything_else_is_no_verdict(reply: str) -> None:
    assert verdict_of(reply) is None
