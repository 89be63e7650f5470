"""A call's conversation stays within its turns, and no tool call is parted from its result."""

import json
import logging
from typing import Any

import pytest
from pipecat.frames.frames import LLMFullResponseEndFrame, LLMFullResponseStartFrame, LLMTextFrame
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.tests.utils import SleepFrame, run_test

from voice.llm.context_window import bound, drop_oldest

FINISHED = {"type": "async_tool", "tool_call_id": "call", "status": "finished"}
SYSTEM = {"role": "system", "content": "Be brief."}


def turn(number: int) -> list[Any]:
    return [{"role": "user", "content": f"question {number}"}, {"role": "assistant", "content": f"answer {number}"}]


def turns(*numbers: int) -> list[Any]:
    return [message for number in numbers for message in turn(number)]


def call(result: str | None) -> list[Any]:
    """A tool call and its result, as pipecat writes them; None while the tool runs."""
    function = {"name": "look_up", "arguments": "{}"}
    return [
        {"role": "assistant", "tool_calls": [{"id": "call", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": "call", "content": "IN_PROGRESS" if result is None else result},
    ]


@pytest.mark.parametrize("lead", [[], [SYSTEM]])
def test_the_latest_half_is_kept_once_there_are_too_many(lead: list[Any], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    context = LLMContext([*lead, *turns(*range(6))])
    assert drop_oldest(context, turns=6) == 0
    context.add_messages(turn(6))
    assert drop_oldest(context, turns=6) == 8
    assert context.get_messages() == [*lead, *turns(4, 5, 6)]
    (told,) = caplog.messages
    assert told == f"8 messages of old turns were dropped; the conversation keeps {6 + len(lead)}"


def test_turns_without_words_count_too() -> None:
    wordless: Any = [
        {"role": "developer", "content": "The user said nothing."},
        {"role": "assistant", "content": "Yes?"},
    ]
    context = LLMContext(wordless * 5)
    drop_oldest(context, turns=4)
    assert context.get_messages() == wordless * 2


def test_a_tool_call_goes_with_its_result() -> None:
    asked: list[Any] = [turn(0)[0], *call('"Sunny."'), turn(0)[1]]
    context = LLMContext([*asked, *turns(1, 2, 3, 4)])
    drop_oldest(context, turns=4)
    assert context.get_messages() == turns(3, 4)


@pytest.mark.parametrize(
    "late",
    [
        [],
        # The result of a tool that did not hold up the conversation.
        [{"role": "developer", "content": json.dumps(FINISHED)}],
    ],
)  # fmt: skip
def test_a_call_whose_result_is_still_to_come_is_kept_with_its_turn(late: list[Any]) -> None:
    asked: list[Any] = [turn(1)[0], *call(None), turn(1)[1]]
    rest = [*turns(2, 3, 4), *late]
    context = LLMContext([*turns(0), *asked, *rest])
    assert drop_oldest(context, turns=4) == 2
    assert context.get_messages() == [*asked, *rest]


def test_a_long_call_never_exceeds_the_bound_and_mostly_only_grows() -> None:
    context, drops = LLMContext([SYSTEM]), 0  # type: ignore[list-item]
    for number in range(500):
        context.add_messages([turn(number)[0], *(call('"Sunny."') if number % 3 == 0 else ()), turn(number)[1]])
        drops += drop_oldest(context, turns=20) > 0
        kept: list[Any] = context.get_messages()
        assert kept[0] == SYSTEM
        assert kept[1]["role"] == "user"
        assert sum(message["role"] == "user" for message in kept) <= 20
        assert kept[-1] == turn(number)[1]
    assert drops == 44, "every eleventh turn from the 21st"


async def test_the_conversation_of_a_call_is_bounded_after_an_answer() -> None:
    context = LLMContext(turns(*range(6)))
    _, assistant = LLMContextAggregatorPair(context)
    bound(assistant, context, turns=6)
    context.add_message(turn(6)[0])
    answer = [LLMFullResponseStartFrame(), LLMTextFrame("answer 6"), LLMFullResponseEndFrame(), SleepFrame(sleep=0.05)]
    await run_test(assistant, frames_to_send=answer)
    assert context.get_messages() == turns(4, 5, 6)


async def test_what_is_forgotten_is_counted_in_turns() -> None:
    context = LLMContext(turns(*range(7)))
    assistant = LLMContextAggregatorPair(context).assistant()
    dropped: list[int] = []
    bound(assistant, context, turns=6, forgot=dropped.append)
    answer = [LLMFullResponseStartFrame(), LLMTextFrame("Yes."), LLMFullResponseEndFrame(), SleepFrame(sleep=0.05)]
    await run_test(assistant, frames_to_send=answer)
    assert dropped == [4]
