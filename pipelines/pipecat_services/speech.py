"""The user's speech services: a new instance for each call, adapted to our pipelines."""

import asyncio
import time
from collections.abc import Sequence

from pipecat.frames.frames import (
    Frame,
    STTMetadataFrame,
    TextFrame,
    TranscriptionFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

from pipelines.pipecat_services.component_factory import ComponentFactory
from voice.frames import NothingHeardFrame
from voice.plain_text import plain
from voice.second_pass import WordCheck
from voice.wire.endpoint import DEFAULT_OUT_RATE

USUAL_LATENCY = 1.0
"""Seconds from the end of speech to the transcript, for a recogniser that does not report its own 99th percentile."""
SETTLED = 0.2
"""The shortest wait for more words, seconds, after words that are not marked as final."""
NO_WORDS = 2.0
"""Seconds from the end of speech until an utterance without a transcript counts as one without words. The wait is at
least twice the recogniser's 99th percentile."""


class PipecatRecogniser:
    """A pipecat recogniser; a `TranscriptEnd` reports when its words are complete."""

    gives_partials = False
    """Unknown: some services give words only at the end."""
    waits = None

    def __init__(self, factory: ComponentFactory) -> None:
        self._factory = factory

    @property
    def name(self) -> str:
        """The name of the class, and its model."""
        return self._factory.name

    async def start(self, names: Sequence[str] = ()) -> None:
        """Make the first call's service."""
        self._factory.prepare()

    def service(self, *, at_fades: bool = False, check: WordCheck | None = None) -> FrameProcessor:
        """A new service, which gives words at times of its own, and its `TranscriptEnd`."""
        return Pipeline([self._factory.take(), TranscriptEnd()])

    async def close(self) -> None:
        """Do nothing: calls share nothing."""


class PipecatSynthesiser:
    """A pipecat synthesiser. It uses the sample rate that the call asks for."""

    speaks_ahead = False
    sample_rate = DEFAULT_OUT_RATE
    waits = None

    def __init__(self, factory: ComponentFactory) -> None:
        self._factory = factory

    @property
    def name(self) -> str:
        """The name of the class, and its model."""
        return self._factory.name

    def introduction(self, text: str) -> float | None:
        """None: it is not known how long the service's speech lasts."""

    async def start(self, phrases: Sequence[str], introductions: Sequence[str] = ()) -> None:
        """Make the first call's service; it synthesises each phrase when it is needed."""
        self._factory.prepare()

    def service(self) -> FrameProcessor:
        """A new service."""
        return self._factory.take()

    async def close(self) -> None:
        """Do nothing: calls share nothing."""


class TranscriptEnd(FrameProcessor):
    """Follows a recogniser: a turn ends when its words are complete, but not every recogniser marks the last ones.

    Makes the words plain text.

    Pushes a `NothingHeardFrame` when the recogniser's time is up and no final transcript has come: by then the words
    are complete, or there were none.
    """

    def __init__(self) -> None:
        super().__init__()
        self._latency = USUAL_LATENCY
        self._stopped: float | None = None
        """When speech ended, seconds on `time.monotonic`; None while the user speaks and before the first stop."""
        self._has_words = False
        self._waiting: asyncio.Task[None] | None = None

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Follow speech and its transcripts, and pass everything on."""
        await super().process_frame(frame, direction)
        if isinstance(frame, TextFrame):
            frame.text = plain(frame.text)
        match frame:
            case STTMetadataFrame():
                self._latency = frame.ttfs_p99_latency or USUAL_LATENCY
            case VADUserStartedSpeakingFrame():
                self._stopped, self._has_words = None, False
                await self._stop_waiting()
            case VADUserStoppedSpeakingFrame():
                self._stopped = time.monotonic() - frame.stop_secs
                await self._wait()
            case TranscriptionFrame():
                self._has_words = True
                if frame.finalized:
                    await self._stop_waiting()
                elif self._stopped is not None:
                    await self._wait()
        await self.push_frame(frame, direction)

    async def cleanup(self) -> None:
        """Stop waiting."""
        await self._stop_waiting()
        await super().cleanup()  # type: ignore[no-untyped-call]

    async def _wait(self) -> None:
        await self._stop_waiting()
        self._waiting = self.create_task(self._end(), "transcript end")

    async def _stop_waiting(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            await self.cancel_task(waiting)

    async def _end(self) -> None:
        assert self._stopped is not None
        wait = self._latency if self._has_words else max(NO_WORDS, 2 * self._latency)
        await asyncio.sleep(max(self._stopped + wait - time.monotonic(), SETTLED))
        self._waiting = None
        await self.push_frame(NothingHeardFrame())
