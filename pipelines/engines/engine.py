"""The interface of a speech engine: a table of settings, and the heavy part that all calls share."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from pipelines.settings_table import Table
from voice.language import Language

if TYPE_CHECKING:
    from pipecat.processors.frame_processor import FrameProcessor

    from voice.queue_waits import QueueWaits
    from voice.second_pass import WordCheck


class Recogniser(Protocol):
    """A speech recognition engine, heavy and shared; `service` gives a call its light part."""

    @property
    def waits(self) -> "QueueWaits | None":
        """How long utterances wait for it, once it has started; None if calls share nothing."""

    @property
    def name(self) -> str:
        """Its name in reports."""

    @property
    def gives_partials(self) -> bool:
        """Whether it gives words during speech, about 0.1 s late; known once it has started."""

    async def start(self, names: Sequence[str] = ()) -> None:
        """Load and warm up.

        Args:
            names: names that callers may use, such as "order status"; an engine may favour them.

        Raises:
            ConfigurationError: a setting names something that does not exist.
            ComponentError: the engine or its model is missing or broken.
        """

    def service(self, *, at_fades: bool = False, check: "WordCheck | None" = None) -> "FrameProcessor":
        """The pipecat service of one call.

        Args:
            at_fades: whether to give the words so far whenever the voice fades, if the engine can.
            check: the checks of the call's words, if the engine can check them by a second pass.
        """

    async def close(self) -> None:
        """End every process and thread."""


class Synthesiser(Protocol):
    """A speech synthesis engine, heavy and shared; `service` gives a call its light part."""

    @property
    def waits(self) -> "QueueWaits | None":
        """How long first clauses wait for it, once it has started; None if calls share nothing."""

    @property
    def name(self) -> str:
        """Its name in reports."""

    @property
    def sample_rate(self) -> int:
        """The sample rate of its audio, in Hz; known once it has started."""

    @property
    def speaks_ahead(self) -> bool:
        """Whether its services prepare the speech of an `EarlySynthesisFrame`."""

    def introduction(self, text: str) -> float | None:
        """The seconds that a beginning such as "Sure," lasts if its services may speak it alone; None if not."""

    async def start(self, phrases: Sequence[str], introductions: Sequence[str] = ()) -> None:
        """Load and warm up.

        Args:
            phrases: phrases that must be ready at once, such as "One moment.".
            introductions: beginnings of answers that may be spoken before the rest of their clause is known.

        Raises:
            ConfigurationError: a setting names something that does not exist, or a phrase cannot be spoken.
            ComponentError: the engine or its voice is missing or broken.
        """

    def service(self) -> "FrameProcessor":
        """The pipecat service of one call."""

    async def close(self) -> None:
        """End every process and thread."""


class EngineTable(Table, ABC):
    """The common base of the `[asr]` and `[tts]` tables."""

    engine: str

    @property
    def summary(self) -> str:
        """The engine in a few words, as `voice check` shows it."""
        return self.engine

    def needs(self) -> list[str]:
        """The parts that are not on this machine, each with the way to get it. Nothing is loaded or downloaded.

        Raises:
            ConfigurationError: a name is not a valid name of a model or a voice.
        """
        return []

    def try_out(self) -> str:
        """Load the parts that may be broken although present; returns the finding, as `voice check` shows it.

        Raises:
            ComponentError: it does not run.
        """
        return self.summary

    def objection(self, language: Language) -> str | None:
        """Why it cannot work in this language and what to do, as one clause; None if it can."""
        return None

    def notice(self, language: Language) -> str | None:
        """A limitation in this language, as one clause; None if there is none."""
        return None


class AsrTable(EngineTable, ABC):
    """The `[asr]` table of an engine."""

    @abstractmethod
    def recogniser(self, language: Language = "en") -> Recogniser:
        """The engine as set, for callers who speak `language`; not loaded yet."""


class TtsTable(EngineTable, ABC):
    """The `[tts]` table of an engine."""

    @abstractmethod
    def synthesiser(self) -> Synthesiser:
        """The engine as set; not loaded yet."""
