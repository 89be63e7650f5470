"""What runs a model of one's own: the interface of both formats."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from voice.errors import ComponentError
from voice.inference_queue import IsWanted
from voice.llm.local.chat_template import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """The tokens of one request.

    Parameters:
        prompt: all that the model was given.
        kept: those of them whose state was kept from an earlier request.
        answer: those that it generated.
    """

    prompt: int
    kept: int
    answer: int


class GenerationError(Exception):
    """The engine refused a request or broke; the message is a clause without a full stop."""


class Engine(Protocol):
    """A loaded model; `generate` blocks and runs in a thread of the model."""

    at_once: int
    """How many requests it may run at a time, withdrawn ones included."""

    def generate(
        self,
        prompt: str,
        messages: Sequence[Message],
        *,
        longest: int,
        is_wanted: IsWanted,
        on_text: Callable[[str], None],
    ) -> Usage:
        """Answer a conversation; give each piece of the answer to `on_text` as soon as it is there.

        Args:
            prompt: the system prompt.
            longest: the most tokens of the answer.
            is_wanted: asked at each token; generation stops when it returns False.

        Raises:
            WithdrawnError: it is no longer wanted.
            GenerationError: the engine refused or broke.
        """

    def close(self) -> None:
        """Free the model, after the last request has ended; may be called twice."""


def check_memory(path: Path, size: int) -> None:
    """Refuse a model that does not fit into the memory that is free.

    Args:
        size: bytes of its weights.

    Raises:
        ComponentError: less than that is free.
    """
    import psutil

    free = psutil.virtual_memory().available
    if size > free:
        raise ComponentError(
            f"The model in {path} needs {size / 1e9:.1f} GB of memory and {free / 1e9:.1f} GB are free; "
            "choose a smaller model, or end other programs."
        )
