"""An opening: a sentence in the fast tier's words that is spoken while the large tier makes the answer."""

from dataclasses import dataclass

from pipecat.processors.aggregators.llm_context import LLMContext, LLMContextMessage

from voice.llm.opening.rules import REPAIR

OPEN = (
    "Do not answer yet. Say only one sentence of at most six words, in the same voice, that shows that you have "
    "understood and are working on it, such as “Let me think about that.” or “About your …, let me see.” with the "
    "user's own words. No yes or no, no number, no result, no promise, no question."
)
GO_ON = (
    "You have already said those words aloud while you were thinking. Go on right after them in the same voice with "
    f"the answer itself. Do not repeat them and do not greet. If they do not fit the answer, begin with “{REPAIR}”."
)


@dataclass(frozen=True, slots=True)
class Opening:
    """The words that were chosen.

    Parameters:
        text: what is said.
        tier: whose words they are; None for a phrase that is known to be true.
        rejected: why the tier's own words are not said, if they are not.
    """

    text: str
    tier: str | None = None
    rejected: str | None = None


def asking_to_open(context: LLMContext) -> LLMContext:
    """The context of a request for an opening; without tools, for nothing may happen yet."""
    messages: list[LLMContextMessage] = [*context.get_messages(), {"role": "developer", "content": OPEN}]
    return LLMContext(messages)


def following(context: LLMContext, opening: str) -> LLMContext:
    """The context of a request for the answer that follows an opening; the call's own context stays unchanged.

    The words are given as the assistant's own, and an instruction follows them; see `continuation.continued`.
    """
    messages: list[LLMContextMessage] = [
        *context.get_messages(),
        {"role": "assistant", "content": opening},
        {"role": "developer", "content": GO_ON},
    ]
    return LLMContext(messages, tools=context.tools, tool_choice=context.tool_choice)
