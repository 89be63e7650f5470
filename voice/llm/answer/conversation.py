"""Reads the conversation to answer, and adds instructions for a tier.

A tier may be told to open an answer, to follow an opening, or to continue, verify or correct another tier's answer.
"""

from typing import Any

from pipecat.processors.aggregators.llm_context import (
    LLMContext,
    LLMContextMessage,
    LLMSpecificMessage,
    standard_message_text,
)

from voice.llm.opening import REPAIR

OPEN = (
    "Do not answer yet. Say only one sentence of at most six words, in the same voice, that shows that you have "
    "understood and are working on it, such as “Let me think about that.” or “About your …, let me see.” with the "
    "user's own words. No yes or no, no number, no result, no promise, no question."
)
FOLLOW = (
    "You have already said those words aloud while you were thinking. Go on right after them in the same voice with "
    f"the answer itself. Do not repeat them and do not greet. If they do not fit the answer, begin with “{REPAIR}”."
)
CONTINUE = (
    "The connection broke after those words, which the user has heard. Go on from exactly there in the same voice. "
    "Do not repeat them, do not greet, do not apologise and do not mention the break."
)
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


def instructed(context: LLMContext, instruction: str, *, said: str | None = None, tools: bool = True) -> LLMContext:
    """A copy of the conversation with an instruction at its end.

    Args:
        context: the conversation.
        instruction: one of those above.
        said: the assistant's words before it; None for none. They could not come last: many servers ignore or refuse a
            conversation that ends with the assistant. If they are blank, nothing was said, and the conversation stays
            as it is.
        tools: whether the model may call the conversation's tools; False while nothing may take effect yet.
    """
    if said is not None and not said.strip():
        return context
    messages: list[LLMContextMessage] = [*context.get_messages()]
    if said is not None:
        messages.append({"role": "assistant", "content": said})
    messages.append({"role": "developer", "content": instruction})
    return LLMContext(messages, tools=context.tools, tool_choice=context.tool_choice) if tools else LLMContext(messages)


def last_user_text(context: LLMContext) -> str | None:
    """The text to answer: the user's last message; "" if another message follows it, None before the first.

    After a turn without words, pipecat adds a message that says so and runs the model; the user's older message must
    not be answered again.
    """
    messages = [message for message in context.get_messages() if not isinstance(message, LLMSpecificMessage)]
    if not any(message.get("role") == "user" for message in messages):
        return None
    return standard_message_text(messages[-1]) if messages[-1].get("role") == "user" else ""


def last_assistant_text(context: LLMContext) -> str | None:
    """The assistant's last words before the user's last message; None if there are none."""
    texts = [
        standard_message_text(message)
        for message in context.get_messages()
        if not isinstance(message, LLMSpecificMessage) and message.get("role") == "assistant"
    ]
    return next((text for text in reversed(texts) if text), None)


def follows_tool(context: LLMContext) -> bool:
    """Whether the message to answer is the result of a tool."""
    last: Any = next(reversed(context.get_messages()), None)
    return isinstance(last, dict) and last.get("role") == "tool"
