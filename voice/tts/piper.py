"""Piper as a pipecat TTS service: clauses in, audio out, in process."""

from collections.abc import AsyncGenerator, AsyncIterator

from pipecat.frames.frames import Frame, LLMFullResponseStartFrame, TTSAudioRawFrame, TTSSpeakFrame
from pipecat.processors.frame_processor import FrameDirection
from pipecat.services.settings import TTSSettings
from pipecat.services.tts_service import TTSService
from pipecat.utils.text.base_text_aggregator import Aggregation, BaseTextAggregator, TextType

from voice.tts.clauses import ClauseSplitter
from voice.tts.voice import LEAD_FIRST, LEAD_LATER, Voice


class ClauseAggregator(BaseTextAggregator):
    """pipecat's seam for cutting text, filled by `ClauseSplitter`."""

    def __init__(self) -> None:
        super().__init__()
        self._splitter = ClauseSplitter()

    @property
    def text(self) -> Aggregation:
        """The text collected since the last clause."""
        return Aggregation(self._splitter.pending.strip(), TextType.SENTENCE)

    async def aggregate(self, text: str) -> AsyncIterator[Aggregation]:
        """Yield each clause that `text` completes."""
        for clause in self._splitter.feed(text):
            yield Aggregation(clause, TextType.SENTENCE)

    async def flush(self) -> Aggregation | None:
        """What is left at the end of the answer."""
        rest = self._splitter.flush()
        return Aggregation(rest, TextType.SENTENCE) if rest else None

    async def handle_interruption(self) -> None:
        """The answer was interrupted: its unspoken text is dropped."""
        self._splitter.reset()

    async def reset(self) -> None:
        """Start over."""
        self._splitter.reset()


class PiperTTSService(TTSService):
    """Speaks each clause with a shared `Voice`; what that has prepared (a `HoldPhraseFrame`) plays at once.

    Audio leaves at the voice's rate in pieces of 100 ms at most, so that an interruption has little to take back.

    Args:
        voice: the loaded voice; one for all calls.
    """

    def __init__(self, voice: Voice) -> None:
        super().__init__(
            push_start_frame=True,
            push_stop_frames=True,
            settings=TTSSettings(model=voice.name, voice=voice.name, language=None),
        )
        # pipecat lets only subclasses choose the aggregator, and types the attribute as its own class.
        self._text_aggregator = ClauseAggregator()  # type: ignore[assignment]
        self._piper = voice
        self._first_clause = True

    def can_generate_metrics(self) -> bool:
        """Whether this service reports its times: yes."""
        return True

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Note where an utterance starts, then let pipecat do the rest."""
        if isinstance(frame, TTSSpeakFrame):
            # An utterance of its own, even between an answer's start and its first clause.
            of_answer, self._first_clause = self._first_clause, True
            try:
                await super().process_frame(frame, direction)
            finally:
                self._first_clause = of_answer
            return
        if isinstance(frame, LLMFullResponseStartFrame):
            self._first_clause = True
        await super().process_frame(frame, direction)

    async def run_tts(self, text: str, context_id: str) -> AsyncGenerator[Frame | None, None]:
        """Speak one clause. Yields 16-bit mono audio at the pipeline's output rate."""
        lead = LEAD_FIRST if self._first_clause else LEAD_LATER
        self._first_clause = False
        samples = self._piper.prepared(text) if lead == LEAD_FIRST else None
        if samples is None:
            await self.start_tts_usage_metrics(text)
            samples = await self._piper.speak(text, lead=lead)
        step = self._piper.sample_rate // 10

        async def pieces() -> AsyncIterator[bytes]:
            for start in range(0, len(samples), step):
                yield samples[start : start + step].tobytes()

        async for frame in self._stream_audio_frames_from_iterator(
            pieces(), in_sample_rate=self._piper.sample_rate, context_id=context_id
        ):
            if isinstance(frame, TTSAudioRawFrame):
                await self.stop_ttfb_metrics()
            yield frame
