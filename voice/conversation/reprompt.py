"""Asks callers who were not heard: to repeat words that were lost, or whether they are still there."""

from pipecat.frames.frames import Frame, TranscriptionFrame, TTSSpeakFrame
from pipecat.processors.aggregators.llm_response_universal import LLMUserAggregator
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

from voice.frames import HoldPhraseFrame, RecogniserFailedFrame
from voice.language.english.phrases import ENGLISH
from voice.language.phrases import Phrases


class Reprompt(FrameProcessor):
    """Follows the recogniser and reports a lost utterance to the caller, in words that do not count as an answer.

    Args:
        phrases: the agent's phrases in the language of the call.
    """

    def __init__(self, phrases: Phrases = ENGLISH) -> None:
        super().__init__()
        self._phrases = phrases
        self._lost = 0

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Pass everything on."""
        await super().process_frame(frame, direction)
        await self.push_frame(frame, direction)
        if isinstance(frame, RecogniserFailedFrame):
            self._lost += 1
            await self.push_frame(
                HoldPhraseFrame(text=self._phrases.say_again if self._lost == 1 else self._phrases.cannot_hear)
            )
        elif isinstance(frame, TranscriptionFrame):
            self._lost = 0


def ask_once(user: LLMUserAggregator, question: str = ENGLISH.still_there) -> None:
    """Have the question spoken once the caller has been silent for the aggregator's `user_idle_timeout`.

    The question becomes part of the conversation, so that "yes" is understood as its answer. It is not repeated until
    the caller has spoken.

    Args:
        user: pipecat's aggregator, which notices the silence.
        question: what is asked.
    """
    is_asked = False

    @user.event_handler("on_user_turn_idle")  # type: ignore[untyped-decorator]
    async def silent(aggregator: LLMUserAggregator) -> None:
        nonlocal is_asked
        if not is_asked:
            is_asked = True
            await aggregator.push_frame(TTSSpeakFrame(question))

    @user.event_handler("on_user_turn_started")  # type: ignore[untyped-decorator]
    async def started(_aggregator: LLMUserAggregator, *_strategy: object) -> None:
        nonlocal is_asked
        is_asked = False
