"""`llm.provider = "responder"`: answers by rules, without a language model."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from pipelines.providers.answering import LanguageModels
from pipelines.settings_table import Table
from voice.language import Language

if TYPE_CHECKING:
    from voice.llm.answer.spoken_service import SpeechRules, SpokenLLMService
    from voice.llm.tools import Tool


class ResponderTable(Table):
    """The embedded backend without a language model."""

    provider: Literal["responder"]

    @property
    def summary(self) -> str:
        """Its description, as `voice check` shows it."""
        return "responder, not a language model"

    def needs(self) -> list[str]:
        """Nothing."""
        return []

    def objection(self, language: Language) -> str | None:
        """Why it cannot answer in this language and what to do; None if it can."""
        if language == "en":
            return None
        return (
            'llm.provider = "responder" understands and speaks English only: name a language model, such as '
            '[llm.large] with provider = "openai"'
        )

    def notice(self, language: Language) -> str | None:
        """Nothing."""
        return None

    def language_models(self, language: Language = "en") -> LanguageModels:
        """The responder; not started yet."""
        return ResponderModels()


class ResponderModels:
    """The responder, which is no language model."""

    phrases: tuple[str, ...] = ()
    models: dict[str, str] = {}
    components = {"llm": "responder (no language model)"}

    async def start(self) -> None:
        """Import and compile now, which would take 0.4 s of the event loop in the first call."""
        await asyncio.to_thread(self._rehearse)

    def services(
        self, *, prompt: str | None, tools: "Sequence[Tool]", rules: "SpeechRules | None" = None
    ) -> "tuple[SpokenLLMService, ...]":
        """A call's responder; it follows no prompt."""
        return (self.service(tools=tools, rules=rules),)

    def service(
        self, *, tools: "Sequence[Tool]", numbers: Iterator[int] | None = None, rules: "SpeechRules | None" = None
    ) -> "SpokenLLMService":
        """A call's responder; see `ResponderLLMService` for `numbers`."""
        from voice.responder.service import ResponderLLMService

        return ResponderLLMService(tools=tools, numbers=numbers, rules=rules)

    def whole_request(self, text: str) -> bool | None:
        """Whether one of its skills matches all of the text, or would if more words came."""
        from voice.responder.matching import is_whole_request
        from voice.responder.sentences import is_beginning

        return True if is_whole_request(text) else False if is_beginning(text) else None

    def withhold_hedges(self, when: Callable[[], bool]) -> None:
        """It makes no requests."""

    def synthesised(self, seconds: float) -> None:
        """No deadline depends on it."""

    async def close(self) -> None:
        """Nothing to release."""

    def _rehearse(self) -> None:
        from voice.responder.sentences import request_beginnings

        self.service(tools=())
        request_beginnings()
