"""Asks a tier to continue an answer that another tier started."""

from pipecat.processors.aggregators.llm_context import LLMContext, LLMContextMessage

from voice.llm.answer.going_on import GO_ON


def continued(context: LLMContext, heard: str) -> LLMContext:
    """The context of a request that continues after `heard`; the call's own context stays unchanged.

    The words are given as the assistant's own, and an instruction follows them, because many servers would ignore or
    refuse a conversation that ends with the assistant.
    """
    messages: list[LLMContextMessage] = [
        *context.get_messages(),
        {"role": "assistant", "content": heard.strip()},
        {"role": "developer", "content": GO_ON},
    ]
    return LLMContext(messages, tools=context.tools, tool_choice=context.tool_choice)
