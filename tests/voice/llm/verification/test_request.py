"""What a verifier is asked, and what its reply is taken for."""

import pytest
from pipecat.adapters.llm.schemas.function_schema import FunctionSchema
from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.processors.aggregators.llm_context import LLMContext

from voice.llm.verification.request import CORRECT, Verdict, asking_to_correct, asking_to_verify, verdict_of


@pytest.mark.parametrize("reply", ["YES", "yes.", "“Yes”", " **YES** "])
def test_a_plain_yes_is_agreement(reply: str) -> None:
    assert verdict_of(reply) == Verdict()


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        ("NO: it is 391, not 392", "it is 391, not 392"),
        ("No. Canberra is\nthe capital.", "Canberra is the capital."),
        ("NO", "the verifier says no more"),
        ("no: " + "x" * 500, "x" * 200),
    ],
)
def test_a_no_names_the_fault(reply: str, fault: str) -> None:
    assert verdict_of(reply) == Verdict(fault)


@pytest.mark.parametrize("reply", ["", "Yes, but it is 391.", "The answer is right.", "Nothing is wrong", "Yesterday"])
def test_anything_else_is_no_verdict(reply: str) -> None:
    assert verdict_of(reply) is None


def _call() -> LLMContext:
    tool = FunctionSchema(name="pay", description="", properties={}, required=[])
    return LLMContext([{"role": "user", "content": "why"}], tools=ToolsSchema(standard_tools=[tool]))


def test_who_verifies_can_call_no_tool_and_the_call_keeps_its_context() -> None:
    context = _call()
    asked = asking_to_verify(context, "Because.")
    assert not asked.tools
    assert [message["content"] for message in asked.get_messages()][:2] == ["why", "Because."]  # type: ignore[index]
    assert len(context.get_messages()) == 1


def test_who_corrects_learns_what_was_heard_and_what_is_wrong_with_it() -> None:
    asked = asking_to_correct(_call(), "It is 392.", "it is 391")
    assert asked.tools
    assert [message["content"] for message in asked.get_messages()][1:] == [  # type: ignore[index]
        "It is 392.",
        CORRECT.format(fault="it is 391"),
    ]


def test_when_nothing_was_heard_the_answer_is_asked_for_as_usual() -> None:
    context = _call()
    assert asking_to_correct(context, " ", "it is 391") is context
