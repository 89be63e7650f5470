"""Only the tools of the chosen answer run, once, and not before the turn has ended."""

from typing import Any

import pytest
from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.frames.frames import (
    EagerEndOfTurnCancelFrame,
    Frame,
    FunctionCallFromLLM,
    FunctionCallResultFrame,
    InterruptionFrame,
    LLMContextFrame,
    UserStartedSpeakingFrame,
    UserStoppedSpeakingFrame,
)
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.frame_processor import FrameDirection
from pipecat.services.llm_service import LLMService
from pipecat.tests.utils import SleepFrame

from tests.voice.llm.answer import budgeted_rig as rig
from voice.frames import LLMFailureFrame, RequestsFrame
from voice.language.english.phrases import ENGLISH
from voice.llm.policy.make import make_policy
from voice.llm.policy.tier_statistics import TierStatistics
from voice.llm.tiers.tier import Tier
from voice.llm.tools import describe
from voice.llm.tools.running import MOST_ALIKE


async def test_tools_of_the_winner_run_once_and_those_of_the_loser_never() -> None:
    ran: list[str] = []

    async def order_status() -> str:
        """Look up the caller's order."""
        ran.append("ran")
        return "on its way"

    tools = ToolsSchema(standard_tools=[describe(order_status)])
    async with (
        rig.serving(rig.large(tool="order_status", wait=0.3)) as slow,
        rig.serving(rig.fast(tool="order_status")) as quick,
    ):
        call = rig.make_call("race", slow, quick, budget=rig.PATIENT)
        down = await call.run([rig.ask(tools=tools), lambda: call.pushed_of(FunctionCallResultFrame)])
    assert ran == ["ran"]
    results = [frame for frame in down if isinstance(frame, FunctionCallResultFrame)]
    assert [frame.result for frame in results] == ["on its way"]
    (record,) = call.records
    assert {attempt.tier: attempt.outcome for attempt in record.attempts} == {
        "large": "called", "fast": "cancelled",
    }  # fmt: skip
    assert record.attempts[0].calls == ("order_status",)


@pytest.mark.parametrize(("verdict", "runs"), [(EagerEndOfTurnCancelFrame, []), (UserStoppedSpeakingFrame, ["ran"])])
async def test_a_tool_of_a_speculative_answer_waits_for_the_end_of_the_turn(
    verdict: type[Frame], runs: list[str]
) -> None:
    ran: list[str] = []

    async def order_status() -> str:
        """Look up the caller's order."""
        ran.append("ran")
        return "on its way"

    tools = ToolsSchema(standard_tools=[describe(order_status)])
    async with rig.serving(rig.large(tool="order_status")) as slow:
        call = rig.make_call("single", slow)
        asked = rig.ask(speculation=True, tools=tools)

        def called() -> bool:
            frames = [frame for _, frame in call.pushed if isinstance(frame, RequestsFrame)]
            return any(frame.attempts and frame.attempts[0].calls for frame in frames)

        await call.run([UserStartedSpeakingFrame(), asked, called, lambda: ran == [], verdict(), SleepFrame(0.2)])
    assert ran == runs
    assert slow.answered == 1


class Raising(LLMService[Any]):
    """Asks for a tool, and breaks."""

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, LLMContextFrame):
            call = FunctionCallFromLLM(function_name="nothing", tool_call_id="1", arguments={}, context=frame.context)
            await self.run_function_calls([call])
            raise ValueError("broken")


async def test_a_service_that_breaks_after_its_tool_call_does_not_delay_the_turn() -> None:
    book, tiers = TierStatistics({"large": 0.2}), [Tier("large", Raising())]
    service = rig.budgeted(tiers, make_policy("single", large="large", fast=None), book=book)
    down = await rig.Call(service, book, tiers).run([rig.ask(), SleepFrame(0.5), InterruptionFrame()])
    assert [type(frame) for frame in down].count(FunctionCallResultFrame) == 1


async def test_the_words_after_a_tool_are_still_of_the_policy_that_called_it() -> None:
    messages: Any = [{"role": "user", "content": "where is my order"}]
    called = {"id": "1", "type": "function", "function": {"name": "order_status", "arguments": "{}"}}
    told = [
        {"role": "assistant", "tool_calls": [called]},
        {"role": "tool", "tool_call_id": "1", "content": "on its way"},
    ]
    async with rig.serving(rig.large()) as slow, rig.serving(rig.fast()) as quick:
        call = rig.make_call("single", slow, quick)

        def swap() -> bool:
            call.service.planner.use(make_policy("single", large=None, fast="fast"))
            return True

        first, second = (LLMContextFrame(LLMContext(said)) for said in (messages, messages + told))
        await call.run([first, lambda: call.records, swap, second, rig.ask()])
    assert [record.attempts[0].tier for record in call.records] == ["large", "large", "fast"]


async def test_a_model_that_keeps_calling_tools_is_asked_a_bounded_number_of_times() -> None:
    ran: list[str] = []

    async def order_status() -> str:
        """Look up the caller's order."""
        ran.append("ran")
        return "ask again"

    tools = ToolsSchema(standard_tools=[describe(order_status)])
    messages: Any = [{"role": "user", "content": "where is my order"}]
    steps: list[rig.Step] = []
    for rounds in range(1, MOST_ALIKE + 2):
        steps.append(LLMContextFrame(LLMContext(list(messages), tools=tools)))
        steps.append(lambda rounds=rounds: len(ran) == rounds or len(call.records) > MOST_ALIKE)
        called = {"id": str(rounds), "type": "function", "function": {"name": "order_status", "arguments": "{}"}}
        messages.append({"role": "assistant", "tool_calls": [called]})
        messages.append({"role": "tool", "tool_call_id": str(rounds), "content": "ask again"})
    async with rig.serving(rig.large(tool="order_status", fault="calls on")) as calling:
        call = rig.make_call("single", calling, None, budget=rig.PATIENT)
        down = await call.run([*steps, lambda: call.pushed_of(LLMFailureFrame)])
    assert len(ran) == MOST_ALIKE
    (failure,) = [frame for frame in down if isinstance(frame, LLMFailureFrame)]
    assert failure.text == ENGLISH.not_answering
    assert failure.reason == "the model called order_status more than 3 times with the same arguments"
    assert call.records[-1].answer.gave_up == failure.reason
