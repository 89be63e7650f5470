"""How a conversation is written for a model: ChatML (Qwen) or Llama 3. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Role = Literal["system", "user", "assistant"]
_CONTROL = re.compile(r"<(?=[^\s\d<=>])|\[(?=/?[A-Za-z_]+\])")
NO_THOUGHTS = "<think>\n\n</think>\n\n"
"""An empty thought: a model that can think answers at once after it."""


@dataclass(frozen=True, slots=True)
class Message:
    """What one side said."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatTemplate:
    """One way to write a conversation.

    Parameters:
        name: as settings name it.
        start: what stands before the whole.
        before_role, after_role: what stands around the role of each message.
        after_text: what ends each message.
        ends: the tokens that end an answer.
        answer: what stands before the text of the answer that is asked for.
    """

    name: str
    start: str
    before_role: str
    after_role: str
    after_text: str
    ends: tuple[str, ...]
    answer: str = ""

    def head(self, prompt: str) -> str:
        """The beginning that every request of a call shares: the system prompt."""
        return self.start + self.message(Message("system", prompt))

    def message(self, message: Message) -> str:
        """One message as the model reads it."""
        return f"{self._opening(message.role)}{torn(message.text.strip())}{self.after_text}"

    def tail(self) -> str:
        """The beginning of the answer."""
        return self._opening("assistant") + self.answer

    def _opening(self, role: Role) -> str:
        return f"{self.before_role}{role}{self.after_role}"


CHATML = ChatTemplate(
    name="chatml",
    start="",
    before_role="<|im_start|>",
    after_role="\n",
    after_text="<|im_end|>\n",
    ends=("<|im_end|>", "<|endoftext|>"),
)
LLAMA3 = ChatTemplate(
    name="llama3",
    start="<|begin_of_text|>",
    before_role="<|start_header_id|>",
    after_role="<|end_header_id|>\n\n",
    after_text="<|eot_id|>",
    ends=("<|eot_id|>", "<|end_of_text|>"),
)
KNOWN = (CHATML, LLAMA3)


def torn(text: str) -> str:
    """A text in which nothing is a control token of any model, such as `<|im_end|>`, `</s>` or `[INST]`.

    A tokenizer takes such a name for the token wherever it stands; with a space in it, it is only text.
    """
    return _CONTROL.sub(r"\g<0> ", text)


def recognised(source: str) -> ChatTemplate | None:
    """The template that a model's own Jinja source amounts to; None for one that is not known here.

    A model that can be told not to think is told so by an empty thought (Qwen3's `enable_thinking = false`).
    """
    known = next((template for template in KNOWN if template.before_role in source), None)
    if known is None or "enable_thinking" not in source:
        return known
    return ChatTemplate(
        **{field: getattr(known, field) for field in ChatTemplate.__slots__ if field != "answer"}, answer=NO_THOUGHTS
    )


def recent(messages: Sequence[Message], sizes: Sequence[int], *, limit: int) -> list[Message]:
    """The latest messages that together have at most `limit` tokens, beginning with one of the user.

    The last message is always kept.

    Args:
        messages: the conversation.
        sizes: the tokens of each.
        limit: tokens.
    """
    total, first = 0, len(messages) - 1
    for index in range(len(messages) - 1, -1, -1):
        total += sizes[index]
        if total > limit:
            break
        if messages[index].role == "user":
            first = index
    return list(messages[max(0, first) :])
