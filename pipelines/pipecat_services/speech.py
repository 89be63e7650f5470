"""The user's speech services: a new instance for each call, adapted to our pipelines."""

from collections.abc import Sequence

from pipecat.pipeline.pipeline import Pipeline
from pipecat.processors.frame_processor import FrameProcessor

from pipelines.pipecat_services.component_factory import ComponentFactory
from pipelines.pipecat_services.transcript_end import TranscriptEnd
from voice.wire.endpoint import DEFAULT_OUT_RATE
from voice.word_check import WordCheck


class PipecatRecogniser:
    """A pipecat recogniser; a `TranscriptEnd` reports when its words are complete."""

    gives_partials = False
    """Unknown: some services give words only at the end."""
    waits = None

    def __init__(self, supply: ComponentFactory) -> None:
        self._supply = supply

    @property
    def name(self) -> str:
        """The name of the class, and its model."""
        return self._supply.name

    async def start(self, names: Sequence[str] = ()) -> None:
        """Make the first call's service."""
        self._supply.prepare()

    def service(self, *, at_fades: bool = False, check: WordCheck | None = None) -> FrameProcessor:
        """A new service, which gives words at times of its own, and its `TranscriptEnd`."""
        return Pipeline([self._supply.take(), TranscriptEnd()])

    async def close(self) -> None:
        """Do nothing: calls share nothing."""


class PipecatSynthesiser:
    """A pipecat synthesiser. It uses the sample rate that the call asks for."""

    speaks_ahead = False
    sample_rate = DEFAULT_OUT_RATE
    waits = None

    def __init__(self, supply: ComponentFactory) -> None:
        self._supply = supply

    @property
    def name(self) -> str:
        """The name of the class, and its model."""
        return self._supply.name

    async def start(self, phrases: Sequence[str]) -> None:
        """Make the first call's service; it synthesises each phrase when it is needed."""
        self._supply.prepare()

    def service(self) -> FrameProcessor:
        """A new service."""
        return self._supply.take()

    async def close(self) -> None:
        """Do nothing: calls share nothing."""
