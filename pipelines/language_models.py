"""What answers in a pipeline: the responder, or language models under a policy and a budget. Shared by all calls."""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from pipelines.settings import Responder, Tiers
from pipelines.tiered_models import TieredModels
from voice.llm.answer.speaking_ahead import SpeakingAheadLLMService
from voice.llm.tools import Tool


class LanguageModels(Protocol):
    """What answers; heavy and shared, `service` gives a call its light part."""

    @property
    def phrases(self) -> tuple[str, ...]:
        """What may be said while no answer is there."""

    @property
    def components(self) -> dict[str, str]:
        """What runs, by the name it has in a report."""

    @property
    def models(self) -> dict[str, str]:
        """The model of each tier."""

    async def start(self) -> None:
        """Load, connect and warm up.

        Raises:
            ComponentError: something is missing or broken.
        """

    def service(self, *, prompt: str | None, tools: Sequence[Tool]) -> SpeakingAheadLLMService:
        """The pipecat service of one call; `prompt` None takes the pipeline's."""

    def whole_request(self, text: str) -> bool | None:
        """Whether `text` is a whole request to what answers, whatever may follow, or only the beginning of one.

        None when that cannot be told. Called in calls, so it is quick.
        """

    def synthesised(self, seconds: float) -> None:
        """The answer's first clause took so long to its first sample."""

    async def close(self) -> None:
        """Leave no process or connection behind."""


class ResponderModels:
    """The responder, which is no language model."""

    phrases: tuple[str, ...] = ()
    models: dict[str, str] = {}
    components = {"llm": "responder (no language model)"}

    async def start(self) -> None:
        """Import and compile what the first call would otherwise wait for on the event loop: 0.4 s."""
        await asyncio.to_thread(self._rehearse)

    def service(self, *, prompt: str | None, tools: Sequence[Tool]) -> SpeakingAheadLLMService:
        """A call's responder; it follows no prompt."""
        from voice.responder.service import ResponderLLMService

        return ResponderLLMService(tools=tools)

    def whole_request(self, text: str) -> bool | None:
        """Whether one of its skills takes the whole of it, or would if more words came."""
        from voice.responder.beginnings import is_beginning
        from voice.responder.understanding import parses

        return True if parses(text) else False if is_beginning(text) else None

    def synthesised(self, seconds: float) -> None:
        """No deadline depends on it."""

    async def close(self) -> None:
        """Nothing to release."""

    def _rehearse(self) -> None:
        from voice.responder.beginnings import beginnings
        from voice.responder.understanding import grammar, last_grammar

        self.service(prompt=None, tools=())
        grammar()
        last_grammar()
        beginnings()


def make_language_models(llm: Responder | Tiers) -> LanguageModels:
    """What a pipeline's `llm` table asks for; not started yet."""
    return TieredModels(llm) if isinstance(llm, Tiers) else ResponderModels()
