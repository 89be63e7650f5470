"""A simulated verifier finds what another simulated model got wrong, and nothing else."""

from datetime import UTC, datetime

import pytest

from voice.llm.answer.conversation import CORRECT, VERIFY
from voice.llm.verification import verdict_of
from voice.simulator.conversation import Message
from voice.simulator.scripting.reviewing import mistaken, reviewed
from voice.simulator.scripting.script import ConversationScript

ASKED = (Message("user", "what is seventeen times twenty three"),)
NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)


def said(*messages: Message) -> str:
    return ConversationScript(seed=1).answer([*ASKED, *messages], (), now=NOW).text


def test_what_it_would_have_said_itself_is_right_and_another_number_is_not() -> None:
    own = said()
    assert "391" in own
    right = verdict_of(said(Message("assistant", own), Message("developer", VERIFY)))
    wrong = verdict_of(said(Message("assistant", mistaken(own)), Message("developer", VERIFY)))
    assert right is not None
    assert right.fault is None
    assert wrong is not None
    assert "391" in str(wrong.fault)


def test_after_a_fault_it_gives_the_answer() -> None:
    asked_again = (Message("assistant", "It is 392."), Message("developer", CORRECT.format(fault="it is 391")))
    assert "391" in said(*asked_again)
    assert reviewed([*ASKED, *asked_again]).messages == list(ASKED)


@pytest.mark.parametrize(("text", "wrong"), [("It is 9 of 10.", "It is 10 of 10."), ("Hello.", "Hello.")])
def test_a_mistake_is_in_the_first_number(text: str, wrong: str) -> None:
    assert mistaken(text) == wrong
