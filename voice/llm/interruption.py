"""Keeps the heard words and the tools of an interrupted answer in the conversation."""

from typing import Any

from pipecat.frames.frames import Frame, FunctionCallCancelFrame, FunctionCallInProgressFrame
from pipecat.processors.aggregators.llm_context import LLMContext, LLMSpecificMessage
from pipecat.processors.aggregators.llm_response_universal import AssistantTurnStoppedMessage, LLMAssistantAggregator
from pipecat.processors.frame_processor import FrameDirection

from voice.llm.tools.tool import GOES_ON, STOPPED, goes_on, result, settle

BROKEN_OFF = " —"
"""Mark after the heard words of an interrupted answer. Small models repeat text from the conversation, so it cannot be
spoken."""


def mark_interruptions(assistant: LLMAssistantAggregator, context: LLMContext) -> None:
    """Mark each interrupted answer in a call's conversation; an answer of which nothing was heard is dropped.

    Args:
        assistant: writes the heard part of the answers to `context`.
        context: the call's conversation.
    """

    @assistant.event_handler("on_assistant_turn_stopped")  # type: ignore[untyped-decorator]
    async def stopped(_: LLMAssistantAggregator, answer: AssistantTurnStoppedMessage) -> None:
        if answer.interrupted and answer.content:
            mark(context, answer.content)


def mark(context: LLMContext, heard: str) -> bool:
    """Mark the latest answer whose kept words are `heard`; returns whether there is one."""
    message = latest(context, "assistant", heard)
    if message is not None:
        message["content"] = heard.rstrip() + BROKEN_OFF
    return message is not None


def latest(context: LLMContext, role: str, content: str) -> Any:
    """The latest message of a conversation with this role and content; None without one."""
    messages = (one for one in reversed(context.get_messages()) if not isinstance(one, LLMSpecificMessage))
    return next((one for one in messages if one.get("role") == role and one.get("content") == content), None)


class SettlingAssistantAggregator(LLMAssistantAggregator):
    """pipecat's assistant aggregator; it describes an interrupted tool to the model in a sentence.

    pipecat announces a tool after the preceding words. An interruption overtakes the announcement, which then comes
    after the tool's cancellation and would stay in the conversation as "IN_PROGRESS".
    """

    def __init__(self, context: LLMContext, **kwargs: Any) -> None:
        super().__init__(context, **kwargs)
        self._overtook: dict[str, FunctionCallCancelFrame] = {}
        """Cancellations of tools whose announcement is still to come."""

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Do as pipecat's, and settle interrupted tools."""
        if isinstance(frame, FunctionCallCancelFrame):
            await self._cancel(frame, direction)
            return
        await super().process_frame(frame, direction)
        if isinstance(frame, FunctionCallInProgressFrame) and frame.tool_call_id in self._overtook:
            await self._cancel(self._overtook.pop(frame.tool_call_id), direction)

    async def _cancel(self, frame: FunctionCallCancelFrame, direction: FrameDirection) -> None:
        # A tool that ran on may have ended before; pipecat would overwrite its result.
        known = result(self.context, frame.tool_call_id)
        await super().process_frame(frame, direction)
        words = known or (GOES_ON if goes_on(self.context, frame.function_name) else STOPPED)
        if not settle(self.context, frame.tool_call_id, words):
            self._overtook[frame.tool_call_id] = frame
