"""Keeps in the conversation what an interruption leaves of an answer: the words that were heard, and its tools."""

from typing import Any

from pipecat.frames.frames import Frame, FunctionCallCancelFrame, FunctionCallInProgressFrame
from pipecat.processors.aggregators.llm_context import LLMContext, LLMSpecificMessage
from pipecat.processors.aggregators.llm_response_universal import AssistantTurnStoppedMessage, LLMAssistantAggregator
from pipecat.processors.frame_processor import FrameDirection

from voice.llm.tools.tool import GOES_ON, STOPPED, goes_on, result, settle

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
    message = latest(context, "assistant", heard)
    if message is not None:
        message["content"] = heard.rstrip() + BROKEN_OFF
    return message is not None


def latest(context: LLMContext, role: str, content: str) -> Any:
    """The latest message of a conversation with this role and content; None without one."""
    messages = (one for one in reversed(context.get_messages()) if not isinstance(one, LLMSpecificMessage))
    return next((one for one in messages if one.get("role") == role and one.get("content") == content), None)


class SettlingAssistantAggregator(LLMAssistantAggregator):
    """pipecat's assistant aggregator; a tool that was interrupted is told to the model in a sentence.

    pipecat announces a tool behind the words that were said before it. An interruption overtakes the announcement: it
    then comes when the tool has been cancelled already, and would stay in the conversation as "IN_PROGRESS".
    """

    def __init__(self, context: LLMContext, **kwargs: Any) -> None:
        super().__init__(context, **kwargs)
        self._overtook: dict[str, FunctionCallCancelFrame] = {}
        """Cancellations of tools that are still to be announced."""

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Do as pipecat's, and settle the tools that were interrupted."""
        if isinstance(frame, FunctionCallCancelFrame):
            await self._cancel(frame, direction)
            return
        await super().process_frame(frame, direction)
        if isinstance(frame, FunctionCallInProgressFrame) and frame.tool_call_id in self._overtook:
            await self._cancel(self._overtook.pop(frame.tool_call_id), direction)

    async def _cancel(self, frame: FunctionCallCancelFrame, direction: FrameDirection) -> None:
        # A tool that runs on may have ended before; pipecat would write over what it returned.
        known = result(self.context, frame.tool_call_id)
        await super().process_frame(frame, direction)
        words = known or (GOES_ON if goes_on(self.context, frame.function_name) else STOPPED)
        if not settle(self.context, frame.tool_call_id, words):
            self._overtook[frame.tool_call_id] = frame
