"""Marks an answer that was broken off, so that the model knows that the rest of it was never heard."""

from pipecat.processors.aggregators.llm_context import LLMContext, LLMSpecificMessage
from pipecat.processors.aggregators.llm_response_universal import AssistantTurnStoppedMessage, LLMAssistantAggregator

BROKEN_OFF = " —"
"""Follows the words that were heard of an answer that was broken off. Small models repeat what is in the conversation,
so this is nothing that could be spoken."""


def mark_interruptions(assistant: LLMAssistantAggregator, context: LLMContext) -> None:
    """Mark each interrupted answer in a call's conversation; of one that was not heard at all nothing is kept.

    Args:
        assistant: writes what was heard of the answers to `context`.
        context: the call's conversation.
    """

    @assistant.event_handler("on_assistant_turn_stopped")  # type: ignore[untyped-decorator]
    async def stopped(_: LLMAssistantAggregator, answer: AssistantTurnStoppedMessage) -> None:
        if answer.interrupted and answer.content:
            mark(context, answer.content)


def mark(context: LLMContext, heard: str) -> bool:
    """Mark the latest answer of which `heard` was kept; returns whether there is one."""
    for message in reversed(context.get_messages()):
        if isinstance(message, LLMSpecificMessage):
            continue
        if message.get("role") == "assistant" and message.get("content") == heard:
            message["content"] = heard.rstrip() + BROKEN_OFF
            return True
    return False
