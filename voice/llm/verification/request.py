"""The requests of a review: whether a draft is right, and what is said instead; and how a verdict is read. Pure."""

import re
from dataclasses import dataclass

from pipecat.processors.aggregators.llm_context import LLMContext, LLMContextMessage

from voice.llm.opening.rules import REPAIR

VERIFY = (
    "Do not answer the user. Check the answer above, which has not been said aloud in full, against the conversation "
    "and what you know. If it is right, reply only “YES”. If it is wrong, reply “NO: ” and what is wrong with it, in "
    "at most fifteen words. Style and brevity are no faults."
)
CORRECT = (
    "Those words were said aloud, and only those. They began an answer in which a check found a fault: “{fault}”. Give "
    "the right answer now in the same voice. Do not repeat what was said and do not greet. If what was said is wrong, "
    f"begin with “{REPAIR}”."
)
_REPLY = re.compile(r"\W*(yes|no)\b\W*(.*)", re.I | re.S)
_LONGEST_FAULT = 200


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a verifier found.

    Parameters:
        fault: what is wrong with the draft; None when it is right.
    """

    fault: str | None = None


def asking_to_verify(context: LLMContext, draft: str) -> LLMContext:
    """The context of a request for a verdict; without tools, for nothing may happen. The call's own stays unchanged."""
    return _with(context, draft, VERIFY, tools=False)


def asking_to_correct(context: LLMContext, heard: str, fault: str) -> LLMContext:
    """The context of a request that goes on after the part of a draft that was heard, although the draft is wrong."""
    return _with(context, heard, CORRECT.format(fault=fault), tools=True) if heard.strip() else context


def verdict_of(reply: str) -> Verdict | None:
    """The verdict that a whole reply gives; None when it gives none, which is not taken for a yes."""
    found = _REPLY.match(reply)
    if found is None:
        return None
    word, rest = found.group(1).casefold(), " ".join(found.group(2).split())
    if word == "yes":
        # "Yes, but …" is no plain yes, and names no fault either.
        return None if rest else Verdict()
    return Verdict(rest[:_LONGEST_FAULT] or "the verifier says no more")


def _with(context: LLMContext, said: str, instruction: str, *, tools: bool) -> LLMContext:
    messages: list[LLMContextMessage] = [
        *context.get_messages(),
        {"role": "assistant", "content": said},
        {"role": "developer", "content": instruction},
    ]
    return LLMContext(messages, tools=context.tools, tool_choice=context.tool_choice) if tools else LLMContext(messages)
