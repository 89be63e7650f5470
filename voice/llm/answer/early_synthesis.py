"""Speculative answers: requested only while they are still useful, prepared for speech while they are held back."""

from collections.abc import Callable
from typing import Any

from pipecat.frames.frames import (
    EagerEndOfTurnCancelFrame,
    Frame,
    InterruptionFrame,
    LLMContextFrame,
    LLMFullResponseStartFrame,
)
from pipecat.processors.aggregators.llm_context import LLMContext, LLMSpecificMessage, standard_message_text
from pipecat.processors.frame_processor import FrameDirection
from pipecat.services.llm_service import LLMService
from pipecat.services.settings import LLMSettings

from voice.frames import AnswerTextFrame, EarlySynthesisFrame


class EarlySynthesisLLMService(LLMService[Any]):
    """A language model service whose speculative answers are prepared for speech.

    pipecat's speculation gate holds such an answer back. Its first clause still goes to synthesis, as a
    `EarlySynthesisFrame`. Nothing is heard of it, but once the gate releases the answer, its audio is ready.

    Args:
        model: its name. pipecat's other settings of a model do not apply.
        kwargs: for pipecat's `LLMService`.
    """

    speaks_ahead = False
    """Whether it prepares first clauses; set per call."""
    wanted: Callable[[str], bool] = staticmethod(lambda _text: True)
    """Whether a speculative answer to these words is still useful; set per call."""
    _prepares = False
    """Whether the answer's first clause is still to be prepared."""

    def __init__(self, *, model: str, **kwargs: Any) -> None:
        settings = LLMSettings(
            model=model,
            system_instruction=None,
            temperature=None,
            max_tokens=None,
            top_p=None,
            top_k=None,
            frequency_penalty=None,
            presence_penalty=None,
            seed=None,
            filter_incomplete_user_turns=False,
            user_turn_completion_config=None,
        )
        super().__init__(settings=settings, **kwargs)

    def is_wanted(self, frame: LLMContextFrame) -> bool:
        """Whether to answer a context.

        The frame that cancels a speculation overtakes the context that starts it when both arrive at once. pipecat then
        finds nothing to cancel, and the end of the turn would release an answer to words that the user never said.
        """
        return not frame.speculation or self.wanted(last_user_text(frame.context) or "")

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Follow the call; an interruption discards a speculative answer, and the turn-taking strategy is notified.

        Such an interruption does not come from the user's voice, but for example from a text that the client sends in
        the middle of a turn. The gate drops the held answer; if it were confirmed later, the turn would never be
        answered.
        """
        await super().process_frame(frame, direction)
        if isinstance(frame, InterruptionFrame) and self._speculation_gate.is_speculating:
            await self.broadcast_frame(EagerEndOfTurnCancelFrame)

    async def push_frame(self, frame: Frame, direction: FrameDirection = FrameDirection.DOWNSTREAM) -> None:
        """Push a frame; if it completes a speculative answer's first clause, have that prepared."""
        clause = self._first_clause(frame) if direction is FrameDirection.DOWNSTREAM else None
        await super().push_frame(frame, direction)
        if clause is not None:
            await super().push_frame(EarlySynthesisFrame(text=clause))

    def _first_clause(self, frame: Frame) -> str | None:
        match frame:
            case LLMFullResponseStartFrame():
                self._prepares = self.speaks_ahead and self._speculation_gate.is_speculating
            case AnswerTextFrame(clauses=(first, *_)) if self._prepares:
                self._prepares = False
                return first
        return None


def last_user_text(context: LLMContext) -> str | None:
    """The text to answer: the user's last message, "" when another message follows it, None before the first.

    After a turn without words, pipecat adds a message that says so and runs the model; the user's older message must
    not be answered again then.
    """
    messages = [message for message in context.get_messages() if not isinstance(message, LLMSpecificMessage)]
    if not any(message.get("role") == "user" for message in messages):
        return None
    return standard_message_text(messages[-1]) if messages[-1].get("role") == "user" else ""


def last_assistant_text(context: LLMContext) -> str | None:
    """What the assistant said last before the user's last message; None if it has said nothing."""
    texts = [
        standard_message_text(message)
        for message in context.get_messages()
        if not isinstance(message, LLMSpecificMessage) and message.get("role") == "assistant"
    ]
    return next((text for text in reversed(texts) if text), None)


def follows_tool(context: LLMContext) -> bool:
    """Whether the message to answer is the result of a tool."""
    last: Any = next(reversed(context.get_messages()), None)
    return isinstance(last, dict) and last.get("role") == "tool"
