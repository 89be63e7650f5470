"""Answers to turns that are not over: asked for only while they are wanted, prepared for speech while held back."""

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

from voice.llm.answer.answer_frames import AnswerTextFrame, SpeakAheadFrame


class SpeakingAheadLLMService(LLMService[Any]):
    """A language model service whose answers to a turn that is not over are prepared for speech.

    pipecat's speculation gate holds such an answer back. Its first clause goes to synthesis all the same, as a
    `SpeakAheadFrame`, which makes nothing heard: what was prepared only shortens the way to the loudspeaker once the
    gate releases the answer.

    Args:
        model: what it is called; how it is asked is not pipecat's to set.
        kwargs: for pipecat's `LLMService`.
    """

    speaks_ahead = False
    """Whether it does so; set per call."""
    wanted: Callable[[str], bool] = staticmethod(lambda _text: True)
    """Whether an answer to these words, asked for ahead, is still wanted; set per call."""
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

        What withdraws a speculation overtakes the context that begins it when both come at once: pipecat then finds
        nothing to withdraw, and the end of the turn would release the answer to words that the user never said.
        """
        return not frame.speculation or self.wanted(last_user_text(frame.context) or "")

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Follow the call; an interruption withdraws an answer begun ahead, and whoever asked for it is told so.

        That comes from elsewhere than the user's voice, such as a text that the client sends in the middle of a turn.
        The gate drops the held answer; confirmed all the same, the turn would never be answered.
        """
        await super().process_frame(frame, direction)
        if isinstance(frame, InterruptionFrame) and self._speculation_gate.is_speculating:
            await self.broadcast_frame(EagerEndOfTurnCancelFrame)

    async def push_frame(self, frame: Frame, direction: FrameDirection = FrameDirection.DOWNSTREAM) -> None:
        """Push a frame, and its answer's first clause ahead if that is complete now."""
        clause = self._first_clause(frame) if direction is FrameDirection.DOWNSTREAM else None
        await super().push_frame(frame, direction)
        if clause is not None:
            await super().push_frame(SpeakAheadFrame(text=clause))

    def _first_clause(self, frame: Frame) -> str | None:
        match frame:
            case LLMFullResponseStartFrame():
                self._prepares = self.speaks_ahead and self._speculation_gate.is_speculating
            case AnswerTextFrame(clauses=(first, *_)) if self._prepares:
                self._prepares = False
                return first
        return None


def last_user_text(context: LLMContext) -> str | None:
    """What there is to answer: the user's last message, "" when another message follows it, None before the first.

    pipecat runs the model once on a turn that had no words, behind a message that says so; the user's older message is
    then not to be answered again.
    """
    messages = [message for message in context.get_messages() if not isinstance(message, LLMSpecificMessage)]
    if not any(message.get("role") == "user" for message in messages):
        return None
    return standard_message_text(messages[-1]) if messages[-1].get("role") == "user" else ""
