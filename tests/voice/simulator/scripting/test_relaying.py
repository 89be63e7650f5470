"""Simulated models take part in a relay: they word openings, good and bad, and answer after them."""

from datetime import datetime

import pytest

from voice.llm.answer.conversation import FOLLOW, OPEN
from voice.llm.opening import is_repair, objection
from voice.simulator.conversation import Message
from voice.simulator.scripting.relaying import opening_for, relayed
from voice.simulator.scripting.script import ConversationScript

NOW = datetime(2026, 5, 4, 12, 0)


def said(*texts: str, role: str = "system") -> list[Message]:
    """A caller's turns, and an instruction at their end."""
    *turns, last = texts
    return [*(Message("user", turn) for turn in turns), Message(role, last)]


@pytest.mark.parametrize("role", ["system", "user"])
def test_an_instruction_is_understood_in_any_role_and_is_no_word_of_the_caller(role: str) -> None:
    found = relayed(said("set a timer", OPEN, role=role))
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
    script = ConversationScript(1)
    asked = Message("user", "convert ten miles to kilometers")
    opening = script.answer([asked, Message("system", OPEN)], (), now=NOW).text
    assert opening == "About miles, let me see."
    answer = script.answer([asked, Message("assistant", opening), Message("system", FOLLOW)], (), now=NOW).text
    assert is_repair(answer)
    assert answer.endswith("10 miles is 16.09 kilometers.")
    other = script.answer([asked, Message("assistant", "One moment."), Message("system", FOLLOW)], (), now=NOW).text
    assert other == "10 miles is 16.09 kilometers."
