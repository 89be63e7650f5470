from typing import Any

from pipecat.processors.aggregators.llm_context import LLMContext

from voice.llm.answer.continuation import continued
from voice.llm.answer.going_on import GO_ON


def test_the_heard_words_are_the_assistants_and_an_instruction_follows() -> None:
    messages: Any = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "why is the sky blue"}]
    context = LLMContext(messages)
    going_on = continued(context, " Because the air, ")
    assert going_on.get_messages()[-2:] == [
        {"role": "assistant", "content": "Because the air,"},
        {"role": "developer", "content": GO_ON},
    ]
    assert going_on.get_messages()[:2] == messages
    assert len(context.get_messages()) == 2
