"""How a simulated model goes on with an answer that another one began. Pure."""

from collections.abc import Sequence

from voice.llm.answer.conversation import CONTINUE
from voice.simulator.conversation import Message

NOTHING_LEFT = "That was all."


def begun(messages: Sequence[Message]) -> str | None:
    """What was heard of the answer, if a request asks for the rest of it, in whatever role the instruction comes."""
    return messages[-2].text if len(messages) > 2 and messages[-1].text == CONTINUE else None


def rest_of(answer: str, *, heard: str) -> str:
    """The answer without the words that were heard, or all of it if it begins otherwise."""
    words, before = answer.split(), heard.split()
    if words[: len(before)] != before:
        return answer
    return " ".join(words[len(before) :]) or NOTHING_LEFT
