"""Simulated models word openings, judge drafts, and go on with what another one began."""

from datetime import UTC, datetime

import pytest

from pipelines.lab.simulator.conversation import Message, OfferedTool
from pipelines.lab.simulator.script import ConversationScript
from pipelines.lab.simulator.shared_answers import NOTHING_LEFT, mistaken, opening_for, relayed, reviewed
from voice.llm.answer.conversation import CONTINUE, CORRECT, FOLLOW, OPEN, VERIFY
from voice.llm.opening import is_repair, objection
from voice.llm.verification import verdict_of

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
PRODUCT = (Message("user", "what is seventeen times twenty three"),)


def instructed(*texts: str, role: str = "system") -> list[Message]:
    """A caller's turns, and an instruction at their end."""
    *turns, last = texts
    return [*(Message("user", turn) for turn in turns), Message(role, last)]


def reviewing(*messages: Message) -> str:
    return ConversationScript().answer([*PRODUCT, *messages], (), now=NOW).text


def rest(heard: str, *, role: str = "system") -> str:
    conversation = [Message("user", "count to five"), Message("assistant", heard), Message(role, CONTINUE)]
    return ConversationScript().answer(conversation, (OfferedTool("order_status"),), now=NOW).text


@pytest.mark.parametrize("role", ["system", "user"])
def test_an_instruction_is_understood_in_any_role_and_is_no_word_of_the_caller(role: str) -> None:
    found = relayed(instructed("set a timer", OPEN, role=role))
    assert (found.opens, [message.text for message in found.messages]) == (True, ["set a timer"])
    after = relayed([Message("user", "set a timer"), Message("assistant", "Let me see."), Message(role, FOLLOW)])
    assert (after.opens, after.opening, len(after.messages)) == (False, "Let me see.", 1)
    assert relayed([]).opening is None


def test_every_fifth_opening_claims_something_and_the_others_may_be_said() -> None:
    texts = ["set a timer for ten minutes", "convert ten miles to kilometers", "what day is it", "cancel the timer"]
    for turn in range(1, 11):
        text = texts[turn % 4]
        blocked = objection(opening_for(text, turn=turn), said=text)
        assert (blocked is not None) == (turn % 5 == 0 and "convert" not in text)


def test_an_answer_goes_on_from_its_opening_and_takes_a_wrong_one_back() -> None:
    script = ConversationScript()
    asked = Message("user", "convert ten miles to kilometers")
    opening = script.answer([asked, Message("system", OPEN)], (), now=NOW).text
    assert opening == "About miles, let me see."
    answer = script.answer([asked, Message("assistant", opening), Message("system", FOLLOW)], (), now=NOW).text
    assert is_repair(answer)
    assert answer.endswith("10 miles is 16.09 kilometers.")
    other = script.answer([asked, Message("assistant", "One moment."), Message("system", FOLLOW)], (), now=NOW).text
    assert other == "10 miles is 16.09 kilometers."


def test_what_it_would_have_said_itself_is_right_and_another_number_is_not() -> None:
    own = reviewing()
    assert "391" in own
    right = verdict_of(reviewing(Message("assistant", own), Message("developer", VERIFY)))
    wrong = verdict_of(reviewing(Message("assistant", mistaken(own)), Message("developer", VERIFY)))
    assert right is not None
    assert right.fault is None
    assert wrong is not None
    assert "391" in str(wrong.fault)


def test_after_a_fault_it_gives_the_answer() -> None:
    asked_again = (Message("assistant", "It is 392."), Message("developer", CORRECT.format(fault="it is 391")))
    assert "391" in reviewing(*asked_again)
    assert reviewed([*PRODUCT, *asked_again]).messages == list(PRODUCT)


@pytest.mark.parametrize(("text", "wrong"), [("It is 9 of 10.", "It is 10 of 10."), ("Hello.", "Hello.")])
def test_a_mistake_is_in_the_first_number(text: str, wrong: str) -> None:
    assert mistaken(text) == wrong


@pytest.mark.parametrize("role", ["system", "user"])
def test_it_goes_on_after_what_was_heard(role: str) -> None:
    whole = ConversationScript().answer([Message("user", "count to five")], (), now=NOW).text
    heard, left = whole[: whole.index("3")], whole[whole.index("3") :]
    assert left == "3, 4, 5."
    assert rest(heard, role=role) == left
    assert rest(whole) == NOTHING_LEFT


def test_an_answer_that_began_otherwise_is_given_as_a_whole() -> None:
    assert rest("I suppose that").endswith("1, 2, 3, 4, 5.")
