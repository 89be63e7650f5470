from typing import Any

from pipecat.adapters.llm.schemas.function_schema import FunctionSchema
from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.processors.aggregators.llm_context import LLMContext

from voice.llm.answer.conversation import CONTINUE, CORRECT, VERIFY, instructed


def test_the_heard_words_are_the_assistants_and_an_instruction_follows() -> None:
    messages: Any = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "why is the sky blue"}]
    context = LLMContext(messages)
    going_on = instructed(context, CONTINUE, said="Because the air,")
    assert going_on.get_messages()[-2:] == [
        {"role": "assistant", "content": "Because the air,"},
        {"role": "developer", "content": CONTINUE},
    ]
    assert going_on.get_messages()[:2] == messages
    assert len(context.get_messages()) == 2


def _call() -> LLMContext:
    tool = FunctionSchema(name="pay", description="", properties={}, required=[])
    return LLMContext([{"role": "user", "content": "why"}], tools=ToolsSchema(standard_tools=[tool]))


def test_who_verifies_can_call_no_tool_and_the_call_keeps_its_context() -> None:
    context = _call()
    asked = instructed(context, VERIFY, said="Because.", tools=False)
    assert not asked.tools
    assert [message["content"] for message in asked.get_messages()][:2] == ["why", "Because."]  # type: ignore[index]
    assert len(context.get_messages()) == 1


def test_who_corrects_learns_what_was_heard_and_what_is_wrong_with_it() -> None:
    asked = instructed(_call(), CORRECT.format(fault="it is 391"), said="It is 392.")
    assert asked.tools
    assert [message["content"] for message in asked.get_messages()][1:] == [  # type: ignore[index]
        "It is 392.",
        CORRECT.format(fault="it is 391"),
    ]


def test_when_nothing_was_heard_the_answer_is_asked_for_as_usual() -> None:
    context = _call()
    assert instructed(context, CORRECT.format(fault="it is 391"), said=" ") is context
