"""Asks a silent caller once whether they are still there."""

from pipecat.frames.frames import TTSSpeakFrame
from pipecat.processors.aggregators.llm_response_universal import LLMUserAggregator

from voice.language.english.phrases import ENGLISH


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
