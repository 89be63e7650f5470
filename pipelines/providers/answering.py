"""The interface of the answering part: the responder, or language models under a policy and a budget."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from voice.llm.answer.spoken_service import SpeechRules, SpokenLLMService
    from voice.llm.tools import Tool


class LanguageModels(Protocol):
    """The answering part, heavy and shared; `services` gives a call its light parts."""

    @property
    def phrases(self) -> tuple[str, ...]:
        """The phrases that may bridge the wait for an answer."""

    @property
    def components(self) -> dict[str, str]:
        """The components, by their names in a report."""

    @property
    def models(self) -> Mapping[str, str]:
        """The model of each tier."""

    async def start(self) -> None:
        """Load, connect and warm up.

        Raises:
            ComponentError: something is missing or broken.
        """

    def services(
        self, *, prompt: str | None, tools: "Sequence[Tool]", rules: "SpeechRules | None" = None
    ) -> "tuple[SpokenLLMService, ...]":
        """The pipecat services of one call, in order: each answers a context or passes it on to the next.

        Args:
            prompt: None takes the pipeline's.
            tools: those that the models may call.
            rules: how the call's answers are spoken; None for the usual ones.
        """

    def whole_request(self, text: str) -> bool | None:
        """Whether `text` is a whole request, whatever may follow, or only the beginning of one.

        None when that is unknown. It is called during calls, so it must be quick.
        """

    def withhold_hedges(self, when: Callable[[], bool]) -> None:
        """Make no hedging requests while `when` holds."""

    def synthesised(self, seconds: float) -> None:
        """Note the seconds from an answer's first clause to its first sample."""

    async def close(self) -> None:
        """End every process and connection."""
