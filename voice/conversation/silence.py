"""Asks a caller who says nothing once whether they are still there, and then rests until they speak."""

from pipecat.frames.frames import TTSSpeakFrame
from pipecat.processors.aggregators.llm_response_universal import LLMUserAggregator

from voice.language.english.phrases import ENGLISH


def ask_once(user: LLMUserAggregator, question: str = ENGLISH.still_there) -> None:
    """Have the question spoken when the caller has been silent for the aggregator's `user_idle_timeout`.

    The question belongs to the conversation, so that "yes" is understood as its answer. After it nothing more is said
    until the caller speaks.

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
