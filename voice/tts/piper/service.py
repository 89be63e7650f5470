"""Piper as a pipecat TTS service in this process: clauses in, audio and the words heard out."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import dataclass

from pipecat.frames.frames import (
    AggregatedTextFrame,
    EagerEndOfTurnCancelFrame,
    Frame,
    InterruptionFrame,
    LLMFullResponseStartFrame,
    TTSAudioRawFrame,
    TTSSpeakFrame,
)
from pipecat.processors.frame_processor import FrameDirection
from pipecat.services.settings import TTSSettings
from pipecat.services.tts_service import TTSService
from pipecat.utils.text.base_text_aggregator import TextType

from voice.frames import AnswerTextFrame, EarlySynthesisFrame
from voice.tts.piper.pieces import Piece, Samples
from voice.tts.piper.voice import LEAD_FIRST, LEAD_LATER, Voice
from voice.tts.synthesis_thread import Urgency


@dataclass(slots=True)
class Clause:
    """A clause synthesised in advance."""

    taken: bool = False
    """Whether it is spoken now, and its call waits for it."""

    def urgency(self) -> Urgency:
        """The urgency of its remaining synthesis."""
        return Urgency.FIRST if self.taken else Urgency.AHEAD


class EarlySynthesis:
    """Synthesises the first clause of a speculative answer, and keeps it until the answer is spoken.

    It holds at most one clause, and releases no audio before the clause is taken.

    `started`, `used` and `dropped` count clauses; one still held is neither used nor dropped.

    Args:
        voice: the voice that synthesises.
    """

    def __init__(self, voice: Voice) -> None:
        self.started = self.used = self.dropped = 0
        self._voice = voice
        self._text: str | None = None
        self._pieces: asyncio.Queue[Piece | None] = asyncio.Queue()
        self._clause = Clause()
        self._making: asyncio.Task[None] | None = None

    def prepare(self, text: str) -> None:
        """Start synthesising a clause, in place of any other; repeating the same clause changes nothing."""
        if text.strip() == self._text:
            return
        self.drop()
        self.started += 1
        self._text, self._pieces = text.strip(), asyncio.Queue()
        self._clause = Clause()
        self._making = asyncio.create_task(self._make(self._text, self._pieces, self._clause))

    def take(self, text: str) -> AsyncIterator[Piece] | None:
        """The audio of the clause, streamed during synthesis; None if another clause or none is held.

        The clause is then no longer held; closing the iterator stops its synthesis.
        """
        if self._making is None or text.strip() != self._text:
            return None
        self.used += 1
        making, self._making, self._text = self._making, None, None
        self._clause.taken = True
        return _hand_over(making, self._pieces)

    def drop(self) -> None:
        """Discard the held clause, and stop its synthesis."""
        if self._making is not None:
            self._making.cancel()
            self.dropped += 1
        self._making = self._text = None

    async def _make(self, text: str, pieces: asyncio.Queue[Piece | None], clause: Clause) -> None:
        try:
            async for piece in self._voice.stream(text, lead=LEAD_FIRST, urgency=clause.urgency):
                pieces.put_nowait(piece)
        finally:
            pieces.put_nowait(None)


async def _hand_over(making: asyncio.Task[None], pieces: asyncio.Queue[Piece | None]) -> AsyncIterator[Piece]:
    try:
        while (piece := await pieces.get()) is not None:
            yield piece
        await making
    finally:
        making.cancel()


PAUSE_AHEAD = 0.06
"""Seconds before the audio of an introduction ends at which the pause after it begins if the rest is not there."""
PAUSE_STEP = 0.04
"""Seconds of that pause sent at once; the rest of the clause waits for at most one step."""
PROMISED_WITHIN = 0.5
"""Seconds of audio left in a call below which its next clause is urgent: about the longest step of another call, with a
voice that synthesises whole sentences."""


class PiperTTSService(TTSService):
    """Speaks each clause with a shared `Voice`, sending audio while the rest is synthesised.

    Prepared audio plays at once: a phrase prepared by the voice (a `HoldPhraseFrame`), or the clause of the last
    `EarlySynthesisFrame`.

    An introduction ("Sure,") may come before the rest of its clause. The voice's own pause after it is sent only while
    the rest is not there.

    Each word is sent after its audio, so that the words sent are the words heard. pipecat's timestamps, which count
    from an answer's first sample, ignore pauses and audio not yet sent.

    Args:
        voice: the loaded voice; one for all calls.
        sent_ahead: seconds of audio that the listener has received but not yet heard.
    """

    def __init__(self, voice: Voice, *, sent_ahead: float = 0.0) -> None:
        super().__init__(
            push_text_frames=False,
            push_start_frame=True,
            push_stop_frames=True,
            settings=TTSSettings(model=voice.name, voice=voice.name, language=None),
        )
        self._piper = voice
        self._sent_ahead = round(sent_ahead * voice.sample_rate)
        self._first_clause = True
        self._plays_until = 0.0
        """When the audio so far will have been played, unless it is interrupted."""
        self._pausing: asyncio.Task[None] | None = None
        self.ahead = EarlySynthesis(voice)

    def can_generate_metrics(self) -> bool:
        """True: this service reports its times."""
        return True

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Note starts of utterances and phrases to be spoken next; pipecat does the rest."""
        if isinstance(frame, TTSSpeakFrame):
            # A separate utterance, even between an answer's start and its first clause.
            of_answer, self._first_clause = self._first_clause, True
            try:
                await super().process_frame(frame, direction)
            finally:
                self._first_clause = of_answer
            return
        if isinstance(frame, AnswerTextFrame) and not frame.skip_tts:
            for clause in frame.clauses:
                # Already whole: bypass pipecat's aggregator, which cuts the text of other services.
                whole = AggregatedTextFrame(clause, TextType.SENTENCE, raw_text=clause)
                await super().process_frame(whole, direction)
            return
        if isinstance(frame, LLMFullResponseStartFrame):
            self._first_clause = True
        elif isinstance(frame, InterruptionFrame | EagerEndOfTurnCancelFrame):
            self.ahead.drop()
        if isinstance(frame, InterruptionFrame):
            self._end_pause()
            self._plays_until = 0.0
        await super().process_frame(frame, direction)
        if isinstance(frame, EarlySynthesisFrame):
            self.ahead.prepare(frame.text)

    async def push_frame(self, frame: Frame, direction: FrameDirection = FrameDirection.DOWNSTREAM) -> None:
        """Keep words in order after their audio; a timestamp would break that order."""
        frame.pts = None
        await super().push_frame(frame, direction)

    def _stamp_segment_announcement(self, frame: AggregatedTextFrame) -> None:
        """Give a clause's announcement no timestamp either, as pipecat would after `push_frame`."""

    async def cleanup(self) -> None:
        """The call is over."""
        self._end_pause()
        self.ahead.drop()
        await super().cleanup()  # type: ignore[no-untyped-call]

    async def run_tts(self, text: str, context_id: str) -> AsyncGenerator[Frame | None, None]:
        """Speak one clause. Yields 16-bit mono audio at the pipeline's output rate."""
        first, self._first_clause = self._first_clause, False
        sent, words = 0, deque[tuple[str, int]]()
        async for piece in self._pieces(text, first=first):
            if len(piece.samples):
                self._end_pause()
                await self.stop_ttfb_metrics()
                seconds = len(piece.samples) / self._piper.sample_rate
                self._plays_until = max(self._plays_until, time.monotonic()) + seconds
                yield await self._audio(piece.samples, context_id)
            sent += len(piece.samples)
            words.extend((word, sent + self._sent_ahead) for word in piece.words)
            while words and words[0][1] <= sent:
                await self.add_word_timestamps([(words.popleft()[0], 0.0)], context_id)
        await self.add_word_timestamps([(word, 0.0) for word, _ in words], context_id)
        if first and (pause := self._piper.pause_after(text)) is not None:
            self._pausing = asyncio.create_task(self._pause(pause, context_id))

    async def _pause(self, pause: Samples, context_id: str) -> None:
        """Send the pause after an introduction step by step, each when the audio before it is nearly over."""
        step = round(PAUSE_STEP * self._piper.sample_rate)
        for start in range(0, len(pause), step):
            await asyncio.sleep(self._plays_until - PAUSE_AHEAD - time.monotonic())
            if not self.audio_context_available(context_id):
                return
            samples = pause[start : start + step]
            await self.append_to_audio_context(context_id, await self._audio(samples, context_id))
            self._plays_until += len(samples) / self._piper.sample_rate

    def _end_pause(self) -> None:
        """Send no more of a pause."""
        if self._pausing is not None:
            self._pausing.cancel()
        self._pausing = None

    async def _pieces(self, text: str, *, first: bool) -> AsyncIterator[Piece]:
        """A clause's audio: prepared before the call, synthesised early, or synthesised now."""
        prepared: Sequence[Piece] | None = self._piper.prepared(text) if first else None
        if prepared is not None:
            for piece in prepared:
                yield piece
            return
        await self.start_tts_usage_metrics(text)
        pieces = self.ahead.take(text) if first else None
        if pieces is None:
            lead = LEAD_FIRST if first else LEAD_LATER
            pieces = self._piper.stream(text, lead=lead, urgency=Urgency.FIRST if first else self._urgency)
        async for piece in pieces:
            yield piece

    def _urgency(self) -> Urgency:
        """The urgency of a clause after the first: the less audio is left, the higher."""
        return Urgency.PROMISED if self._plays_until - time.monotonic() < PROMISED_WITHIN else Urgency.LATER

    async def _audio(self, samples: Samples, context_id: str) -> TTSAudioRawFrame:
        # At equal rates, the samples stay unchanged.
        audio = await self._resampler.resample(samples.tobytes(), self._piper.sample_rate, self.sample_rate)
        return TTSAudioRawFrame(audio, self.sample_rate, 1, context_id=context_id)
