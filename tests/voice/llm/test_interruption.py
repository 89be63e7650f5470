"""The model is told that an answer was interrupted."""

from typing import Any

import pytest
from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.frames.frames import (
    Frame,
    FunctionCallCancelFrame,
    FunctionCallInProgressFrame,
    FunctionCallResultFrame,
    InterruptionFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
)
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.tests.utils import SleepFrame, run_test

from voice.llm.interruption import BROKEN_OFF, SettlingAssistantAggregator, mark, mark_interruptions
from voice.llm.tools import describe, slow
from voice.llm.tools.tool import GOES_ON, STOPPED, settle


@pytest.mark.parametrize(("end", "kept"), [(InterruptionFrame, f"There are{BROKEN_OFF}"), (None, "There are")])
async def test_only_an_interrupted_answer_is_marked(end: Any, kept: str) -> None:
    context = LLMContext([{"role": "user", "content": "which trains are there"}])
    assistant = LLMContextAggregatorPair(context).assistant()
    mark_interruptions(assistant, context)
    frames = [LLMFullResponseStartFrame(), LLMTextFrame("There are"), SleepFrame(sleep=0.05)]
    await run_test(assistant, frames_to_send=[*frames, (end or LLMFullResponseEndFrame)(), SleepFrame(sleep=0.05)])
    last: Any = context.get_messages()[-1]
    assert last["content"] == kept


def test_the_latest_of_two_equal_answers_is_marked_and_no_other_words_are() -> None:
    said: Any = [{"role": "assistant", "content": "Yes."}, {"role": "user", "content": "Yes."}]
    context = LLMContext([*said, {"role": "assistant", "content": "Yes."}])
    assert mark(context, "Yes.")
    texts = [message["content"] for message in context.get_messages()]  # type: ignore[index,typeddict-item]
    assert texts == ["Yes.", "Yes.", f"Yes.{BROKEN_OFF}"]
    assert not mark(context, "No.")


@slow(cancellable=True)
async def look_up() -> str:
    """Look something up."""
    return "found"


@slow()
async def book() -> str:
    """Book a table."""
    return "booked"


def calling(name: str, call_id: str = "a") -> tuple[Frame, Frame, Frame]:
    """A tool that is announced, returns, or is cancelled."""
    call: Any = {"function_name": name, "tool_call_id": call_id}
    announced = FunctionCallInProgressFrame(**call, arguments={}, cancel_on_interruption=True)
    returned = FunctionCallResultFrame(**call, arguments={}, result="done", run_llm=False)
    return announced, returned, FunctionCallCancelFrame(**call)


async def told(*frames: Frame, result: str | None = None) -> list[str]:
    """What the conversation says of its tools after these frames; `result` comes from a tool that ran on."""
    context = LLMContext([], tools=ToolsSchema(standard_tools=[describe(look_up), describe(book)]))
    aggregator = SettlingAssistantAggregator(context)
    steps = [step for frame in frames for step in (frame, SleepFrame(sleep=0.05))]
    await run_test(aggregator, frames_to_send=steps)
    if result is not None:
        assert settle(context, "a", result)
        assert not settle(context, "a", result), "it is said once"
    messages: Any = context.get_messages()
    return [message["content"] for message in messages if message["role"] == "tool"]


ANNOUNCED, RETURNED, CANCELLED = calling("look_up")
BOOKING, _, BOOKING_CANCELLED = calling("book")
OTHER, OTHER_RETURNED, OTHER_CANCELLED = calling("look_up", "b")


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        ([ANNOUNCED, RETURNED], ['"done"']),
        ([ANNOUNCED, CANCELLED], [STOPPED]),
        ([CANCELLED, ANNOUNCED], [STOPPED]),
        ([CANCELLED, ANNOUNCED, CANCELLED], [STOPPED]),
        ([CANCELLED, ANNOUNCED, RETURNED], [STOPPED]),
        ([BOOKING, BOOKING_CANCELLED], [GOES_ON]),
        ([BOOKING_CANCELLED, BOOKING], [GOES_ON]),
        ([ANNOUNCED, OTHER, RETURNED, OTHER_CANCELLED], ['"done"', STOPPED]),
        ([OTHER_CANCELLED, ANNOUNCED, OTHER, CANCELLED], [STOPPED, STOPPED]),
        ([ANNOUNCED, RETURNED, OTHER, OTHER_RETURNED, CANCELLED], ['"done"', '"done"']),
    ],
)
async def test_a_tool_that_was_interrupted_says_so_and_is_never_in_progress(
    frames: list[Frame], expected: list[str]
) -> None:
    assert await told(*frames) == expected


@pytest.mark.parametrize("frames", [[BOOKING, BOOKING_CANCELLED], [BOOKING_CANCELLED, BOOKING]])
async def test_what_a_tool_returns_that_ran_on_takes_the_place_of_its_call(frames: list[Frame]) -> None:
    assert await told(*frames, result='"booked"') == ['"booked"']


async def test_a_result_that_came_before_the_cancellation_is_kept() -> None:
    context = LLMContext([], tools=ToolsSchema(standard_tools=[describe(book)]))
    aggregator = SettlingAssistantAggregator(context)
    settled: list[bool] = []

    @aggregator.event_handler("on_before_process_frame")  # type: ignore[untyped-decorator]
    async def end(_: SettlingAssistantAggregator, frame: Frame) -> None:
        if isinstance(frame, FunctionCallCancelFrame):
            settled.append(settle(context, "a", '"booked"'))

    await run_test(
        aggregator, frames_to_send=[BOOKING, SleepFrame(sleep=0.05), BOOKING_CANCELLED, SleepFrame(sleep=0.05)]
    )
    assert settled == [True]
    last: Any = context.get_messages()[-1]
    assert last["content"] == '"booked"'
