"""What the pipeline needs of a speech engine: a table of settings, and the heavy part that all calls share."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from pipelines.table import Table
from voice.language import Language

if TYPE_CHECKING:
    from pipecat.processors.frame_processor import FrameProcessor

    from voice.queue_waits import QueueWaits


class Recogniser(Protocol):
    """A speech recognition engine: heavy and shared; `service` gives a call its light part."""

    @property
    def waits(self) -> "QueueWaits | None":
        """How long utterances wait for it, once it has started; None where calls share nothing."""

    @property
    def name(self) -> str:
        """What recognises, as the report shows it."""

    @property
    def gives_partials(self) -> bool:
        """Whether it gives words while they are spoken, some 0.1 s later; known once it has started."""

    async def start(self, names: Sequence[str] = ()) -> None:
        """Load and warm up.

        Args:
            names: what callers may ask for by name, such as "order status"; an engine may hear them more easily.

        Raises:
            ConfigurationError: a setting names something that does not exist.
            ComponentError: the engine or its model is missing or broken.
        """

    def service(self, *, at_fades: bool = False) -> "FrameProcessor":
        """The pipecat service of one call.

        Args:
            at_fades: give the words so far whenever the voice fades, if the engine can.
        """

    async def close(self) -> None:
        """End every process and thread."""


class Synthesiser(Protocol):
    """A speech synthesis engine: heavy and shared; `service` gives a call its light part."""

    @property
    def waits(self) -> "QueueWaits | None":
        """How long first clauses wait for it, once it has started; None where calls share nothing."""

    @property
    def name(self) -> str:
        """What speaks, as the report shows it."""

    @property
    def sample_rate(self) -> int:
        """The rate at which it makes audio, in Hz; known once it has started."""

    @property
    def speaks_ahead(self) -> bool:
        """Whether its services prepare the speech of a `EarlySynthesisFrame`."""

    async def start(self, phrases: Sequence[str]) -> None:
        """Load and warm up.

        Args:
            phrases: what may have to be said at once, such as "One moment.".

        Raises:
            ConfigurationError: a setting names something that does not exist, or a phrase cannot be spoken.
            ComponentError: the engine or its voice is missing or broken.
        """

    def service(self) -> "FrameProcessor":
        """The pipecat service of one call."""

    async def close(self) -> None:
        """End every process and thread."""


class EngineTable(Table, ABC):
    """What the `[asr]` and `[tts]` tables of all engines share."""

    engine: str

    @property
    def summary(self) -> str:
        """The engine in a few words, as `voice check` shows it."""
        return self.engine

    def needs(self) -> list[str]:
        """What is not on this machine, each with how to get it. Nothing is loaded or downloaded.

        Raises:
            ConfigurationError: a name cannot be that of a model or a voice.
        """
        return []

    def try_out(self) -> str:
        """Load what can be broken although nothing is missing; returns what was found, as `voice check` shows it.

        Raises:
            ComponentError: it does not run.
        """
        return self.summary

    def objection(self, language: Language) -> str | None:
        """Why it cannot work in this language and what to do, as one clause; None if it may."""
        return None

    def notice(self, language: Language) -> str | None:
        """What is worse in this language than somebody would expect, as one clause; None if nothing is."""
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
