"""Simulated models go on with what another one began, when its connection broke."""

from datetime import datetime

import pytest

from voice.llm.answer.conversation import CONTINUE
from voice.simulator.conversation import Message, OfferedTool
from voice.simulator.scripting.continuing import NOTHING_LEFT
from voice.simulator.scripting.script import ConversationScript

NOW = datetime(2026, 5, 4, 12, 0)


def rest(heard: str, *, role: str = "system") -> str:
    conversation = [Message("user", "count to five"), Message("assistant", heard), Message(role, CONTINUE)]
    return ConversationScript(1).answer(conversation, (OfferedTool("order_status"),), now=NOW).text


@pytest.mark.parametrize("role", ["system", "user"])
def test_it_goes_on_after_what_was_heard(role: str) -> None:
    whole = ConversationScript(1).answer([Message("user", "count to five")], (), now=NOW).text
    heard, left = whole[: whole.index("3")], whole[whole.index("3") :]
    assert left == "3, 4, 5."
    assert rest(heard, role=role) == left
    assert rest(whole) == NOTHING_LEFT


def test_an_answer_that_began_otherwise_is_given_as_a_whole() -> None:
    assert rest("I suppose that").endswith("1, 2, 3, 4, 5.")
