"""Bounds a call's conversation, which every request sends: drops the older half of too many turns.

Half at once, not one turn at a time: a provider's prompt cache and the state of a Responses socket are valid only while
the beginning stays the same. So only an occasional request sends everything anew.

pipecat's summariser (`LLMAutoContextSummarizationConfig`) replaces old messages by a summary, but guarantees no bound:
it needs a language model and a request that may fail or be interrupted. Its rule for keeping tool calls whole is used
here, too.
"""

import logging
from collections.abc import Callable

from pipecat.processors.aggregators.llm_context import LLMContext, LLMSpecificMessage
from pipecat.processors.aggregators.llm_response_universal import AssistantTurnStoppedMessage, LLMAssistantAggregator
from pipecat.utils.context.llm_context_summarization import LLMContextSummarizationUtil

log = logging.getLogger(__name__)


def bound(
    assistant: LLMAssistantAggregator,
    context: LLMContext,
    *,
    turns: int,
    forgot: Callable[[int], None] = lambda _turns: None,
) -> None:
    """Keep a call's conversation within `turns` turns; older ones are dropped after an answer, while nobody waits.

    Args:
        assistant: writes the answers to `context`.
        context: the call's conversation.
        turns: 2 or more; see `drop_oldest`.
        forgot: called with the number of dropped turns.
    """

    @assistant.event_handler("on_assistant_turn_stopped")  # type: ignore[untyped-decorator]
    async def answered(_: LLMAssistantAggregator, _answer: AssistantTurnStoppedMessage) -> None:
        before = len(_beginnings(context))
        if drop_oldest(context, turns=turns):
            forgot(before - len(_beginnings(context)))


def drop_oldest(context: LLMContext, *, turns: int) -> int:
    """Once a conversation has more than `turns` turns, drop all but the latest half of them.

    A turn begins with a message of the user, or of the developer if the user said nothing. The kept part begins with
    one, after any leading system message. The turn of a pending tool call is kept, with all later turns.

    Returns:
        How many messages were dropped.
    """
    messages, begins = context.get_messages(), _beginnings(context)
    if len(begins) <= turns:
        return 0
    kept = len(messages) - begins[-max(1, turns // 2)]
    old = LLMContextSummarizationUtil.get_messages_to_summarize(context, kept)
    until = old.last_summarized_index + 1
    first = until - len(old.messages)
    begin = max((index for index in begins if index <= until), default=0)
    if begin <= first:
        return 0
    left = [*messages[:first], *messages[begin:]]
    context.set_messages(left)
    log.info("%d messages of old turns were dropped; the conversation keeps %d", begin - first, len(left))
    return begin - first


def _beginnings(context: LLMContext) -> list[int]:
    """Where the turns of a conversation begin."""
    return [
        index
        for index, message in enumerate(context.get_messages())
        if not isinstance(message, LLMSpecificMessage) and message.get("role") in ("user", "developer")
    ]
