"""Recognises speech with faster-whisper while it is spoken, and gives the final text soon after it ends.

`SharedWhisper` decodes audio and knows nothing of turns; `WhisperSTTService` knows which audio is an utterance and
whether a result is still current. They exchange float32 samples and text.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Coroutine, Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

from loguru import logger
from pipecat.audio.vad.vad_analyzer import VAD_STOP_SECS
from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    CancelFrame,
    EagerTranscriptionFrame,
    EndFrame,
    Frame,
    InterimTranscriptionFrame,
    InterruptionFrame,
    STTMuteFrame,
    TranscriptionFrame,
    UserStartedSpeakingFrame,
    UserStoppedSpeakingFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessorSetup
from pipecat.services.settings import STTSettings
from pipecat.services.stt_service import STTService
from pipecat.transcriptions.language import Language
from pipecat.utils.time import time_now_iso8601

from latency.record.turn import CheckOutcome, CheckRecord
from voice.asr.changed_words import changed_words
from voice.asr.whisper.decoding import PASS_SECONDS, SAMPLE_RATE, Transcript
from voice.asr.whisper.model import PASSES_AT_FADES, Check, SharedWhisper
from voice.asr.whisper.segment import Segment, SegmentBuffer
from voice.asr.whisper.utterance import LEAST_AUDIO, LEAST_OVER_ANSWER, Utterance
from voice.errors import ConfigurationError
from voice.frames import (
    CheckedTranscriptionFrame,
    DoubtfulTranscriptionFrame,
    EagerHintFrame,
    NothingHeardFrame,
    OwnVoiceFrame,
    RecogniserFailedFrame,
    RevisedEagerTranscriptionFrame,
    RevisedTranscriptionFrame,
    SpeechResumedFrame,
    VoiceFadedFrame,
    WordsCheckedFrame,
)
from voice.language import Language as Spoken
from voice.second_pass import LONGEST_WAIT, WordCheck

Checking = Literal["auto", "on", "off"]
"""When a second pass checks the words of an utterance: if it pays, always, or never."""
PRE_ROLL = 0.7
"""Seconds of audio kept from before the detector's report: its delay of 0.2 s, and 0.5 s for a soft beginning."""
LONGEST_UTTERANCE = 2 * PASS_SECONDS
"""The longest utterance recognised, in seconds; more than two passes would keep the caller waiting for seconds."""
NEW_AUDIO = 0.3
"""Seconds of new audio that a partial pass needs: about a word."""
OVER_ANSWER = PRE_ROLL + 0.25
"""The least seconds of audio for a partial pass over an answer: about 0.5 s of speech, so that its words are there when
`barge_in.decide_ms` (650 ms) are over."""
REPLACED_WITHIN = 1.0
"""Seconds in which corrected words reach the conversation; a processor of the user's may swallow them."""
LONG_TEXT = 0.3
"""Seconds that a long request's tokens add to a pass with almost no text: 100 tokens with tiny."""


class WhisperSTTService(STTService):
    """Transcribes each utterance while it is spoken and once it has ended.

    Pushes `InterimTranscriptionFrame`s, then for each utterance a finalised `TranscriptionFrame`, a `NothingHeardFrame`
    or a `RecogniserFailedFrame`. The final pass begins at an `EagerHintFrame`; its text is pushed as an
    `EagerTranscriptionFrame`, unless speech ends first, and is the final text unless a `SpeechResumedFrame` comes
    first. If the user goes on before the final text comes, that result is discarded and its audio becomes the beginning
    of the new utterance, so that no word is repeated or lost. Passes that are no longer needed are withdrawn: a final
    pass when the user goes on or the call ends, a partial pass when the final one begins.

    If the user goes on in the same turn after the final text, the new utterance's passes include the earlier ones, as
    far as one pass can: part of a sentence is misheard more often, and ends with a full stop. The new text comes in a
    `RevisedTranscriptionFrame` (eager: `RevisedEagerTranscriptionFrame`). Upstream frames mark the beginning and end of
    a turn. The agent's own voice (`OwnVoiceFrame`) is not included again.

    This is not pipecat's `SegmentedSTTService`, because that one transcribes and pushes every segment in order of
    arrival, cannot discard an utterance, and hides its buffer.

    Args:
        model: The model, shared by all calls; the service does not close it.
        streaming: Whether to decode unfinished speech; a model with slow passes never does.
        at_fades: Whether to do so when the voice fades, instead of at intervals. While it stays soft, a
            `VoiceFadedFrame` is sent and then the text as an `EagerTranscriptionFrame`. Speech over an answer is
            decoded at intervals as well, because its words decide whether it stops the answer.
        pre_roll: Seconds of audio kept from before the detector's report of speech.
        ttfs_p99_latency: Seconds from the end of speech to the transcript, 99th percentile; None for the sum of the
            detector's wait, `LONG_TEXT` and twice the model's measured pass. Turn taking waits this long only if
            nothing comes.
        checking: When a second, longer pass checks the words of an utterance (see `voice.second_pass`): `auto` only if
            it is usually done before the language model has a clause. It is done at the lowest priority.
        check_limit: The most seconds that an answer waits for the check.
        check: The checks of the call; None for a call in which nobody waits for them.
        kwargs: Passed on to `STTService`.
    """

    def __init__(
        self,
        model: SharedWhisper,
        *,
        streaming: bool = True,
        at_fades: bool = False,
        pre_roll: float = PRE_ROLL,
        ttfs_p99_latency: float | None = None,
        checking: Checking = "off",
        check_limit: float = LONGEST_WAIT,
        check: WordCheck | None = None,
        **kwargs: Any,
    ) -> None:
        self._language = None if model.language is None else Language(model.language)
        if ttfs_p99_latency is None:
            ttfs_p99_latency = VAD_STOP_SECS + LONG_TEXT + 2 * model.pass_seconds
        super().__init__(
            settings=STTSettings(model=model.name, language=self._language), ttfs_p99_latency=ttfs_p99_latency, **kwargs
        )
        self._model = model
        self._streaming = streaming
        self._at_fades = at_fades
        self._buffer = SegmentBuffer(sample_rate=SAMPLE_RATE, pre_roll=pre_roll, limit=LONGEST_UTTERANCE)
        self._in_turn = False
        """Whether a user's turn has begun and is not yet committed."""
        self._answer_sounds = False
        self._spoken: Utterance | None = None
        """The utterance being spoken."""
        self._awaited: Utterance | None = None
        """The utterance that has ended, with its text pending."""
        self._listening: set[asyncio.Task[None]] = set()
        self._checking, self._check_limit, self._check = checking, check_limit, check or WordCheck()

    def can_generate_metrics(self) -> bool:
        """True: the time to the final transcript and the decoding time are reported."""
        return True

    # pipecat's FrameProcessor itself widens the signature of `setup` in its base.
    async def setup(self, setup: FrameProcessorSetup) -> None:  # type: ignore[override]
        """Refuse sample rates other than Whisper's, 16 kHz.

        Raises:
            ConfigurationError: The pipeline's input has another rate.
        """
        await super().setup(setup)
        if self.sample_rate != SAMPLE_RATE:
            raise ConfigurationError(
                f"Whisper needs audio at 16000 Hz, not {self.sample_rate}: set audio_in_sample_rate=16000."
            )

    async def run_stt(self, audio: bytes) -> AsyncGenerator[Frame | None, None]:
        """Keep the audio, and start a partial pass at intervals; texts are pushed when they are ready."""
        self._buffer.append(audio)
        if self._buffer.has_earlier and self._awaited is None and self._buffer.seconds > PASS_SECONDS:
            await self._part()
        if self._streaming and self._spoken is not None and self._spoken.final is None:
            if self._at_fades:
                await self._look_at_fades(self._spoken)
            if not self._at_fades or (self._is_over_answer and self._buffer.seconds >= OVER_ANSWER):
                self._look(self._spoken)
        yield None

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Begin and end utterances by the detector's frames."""
        await super().process_frame(frame, direction)
        if isinstance(frame, InterruptionFrame | OwnVoiceFrame) or (isinstance(frame, STTMuteFrame) and frame.mute):
            self._check.drop()
        if isinstance(frame, VADUserStartedSpeakingFrame) and not self.is_muted:
            self._check.drop()
            self._withdraw()
            self._buffer.open(goes_on=await self._discard() is not None or self._in_turn)
            self._spoken = Utterance(self._model)
        elif isinstance(frame, BotStartedSpeakingFrame | BotStoppedSpeakingFrame):
            self._answer_sounds = isinstance(frame, BotStartedSpeakingFrame)
        elif isinstance(frame, UserStartedSpeakingFrame):
            self._in_turn = True
        elif isinstance(frame, UserStoppedSpeakingFrame):
            self._in_turn = False
            await self._part()
        elif isinstance(frame, OwnVoiceFrame):
            await self._part()
        elif isinstance(frame, EagerHintFrame) and self._spoken is not None and self._spoken.final is None:
            self._prepare(self._spoken, frame.silence)
        elif isinstance(frame, SpeechResumedFrame) and self._spoken is not None:
            self._spoken.withdraw()
        elif isinstance(frame, VADUserStoppedSpeakingFrame) and self._spoken is not None:
            self._finish(self._spoken)
        elif isinstance(frame, STTMuteFrame) and frame.mute:
            self._withdraw()
            self._buffer.clear()

    async def stop(self, frame: EndFrame) -> None:
        """Wait for the utterance being decoded."""
        self._check.drop()
        if self._awaited is not None and self._awaited.delivery is not None:
            await self._awaited.delivery
        await super().stop(frame)

    async def cancel(self, frame: CancelFrame) -> None:
        """Discard the utterance being decoded."""
        self._check.drop()
        self._withdraw()
        await self._discard()
        await super().cancel(frame)

    async def cleanup(self) -> None:
        """Discard any open utterance if the call ended without an EndFrame."""
        self._check.drop()
        self._withdraw()
        await self._discard()
        for task in list(self._listening):
            await self.cancel_task(task)
        self._buffer.clear()
        await super().cleanup()  # type: ignore[no-untyped-call]

    @property
    def _is_over_answer(self) -> bool:
        """Whether the words decide whether an answer goes on."""
        return self._answer_sounds and not self._in_turn

    def _look(self, spoken: Utterance) -> None:
        """Start a partial pass if there is enough new audio, the model is free and the user seems to go on."""
        seconds = self._buffer.seconds
        if (
            not spoken.heard + NEW_AUDIO <= seconds <= PASS_SECONDS
            or not self._model.may_listen()
            or self._buffer.is_fading
        ):
            return
        self._listen(spoken)

    async def _look_at_fades(self, spoken: Utterance) -> None:
        """Start passes while the voice stays soft; withdraw them when it rises again."""
        if not self._buffer.is_fading:
            if spoken.fades.are_heard:
                spoken.withdraw()
            spoken.fades.rose()
            return
        await self._announce_fade(spoken)
        seconds = self._buffer.seconds
        if spoken.fades.lasts(seconds):
            await self.push_frame(VoiceFadedFrame(lasting=True))
        least = LEAST_OVER_ANSWER if self._is_over_answer else LEAST_AUDIO
        is_due = spoken.fades.is_due(seconds, least=least) and seconds <= PASS_SECONDS
        if is_due and self._model.may_listen(at_once=PASSES_AT_FADES):
            spoken.fades.begun()
            if spoken.fades.settles:
                self._follow(self._announce(spoken, spoken.settle(self._buffer.copy())), "settling")
            else:
                self._listen(spoken, at_fade=True)

    async def _announce_fade(self, spoken: Utterance) -> None:
        """Announce a fade that has started a pass, one audio frame later, because many fades are over by then."""
        if spoken.fades.is_new:
            spoken.fades.announced = True
            await self.push_frame(VoiceFadedFrame())

    def _prepare(self, spoken: Utterance, silence: float) -> None:
        """Speech may have ended: begin the final pass, or use one that has already heard all words."""
        if not self._at_fades:
            spoken.withdraw_partial()
        if (settled := spoken.take_settled(self._buffer.seconds, silence)) is None:
            self._follow(self._announce(spoken, spoken.finish(self._buffer.copy())), "final")
        elif settled.done():
            self._follow(self._push_eager(settled.result()), "settled")

    def _listen(self, spoken: Utterance, *, at_fade: bool = False) -> None:
        """Start a partial pass, in place of one that has not begun yet."""
        spoken.withdraw_partial()
        spoken.heard = self._buffer.seconds
        spoken.partial = self._follow(self._report(self._buffer.copy(), spoken, at_fade=at_fade), "partial")

    def _follow(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        task = self.create_task(work, name)
        self._listening.add(task)
        task.add_done_callback(self._listening.discard)
        return task

    async def _report(self, segment: Segment, spoken: Utterance, *, at_fade: bool) -> None:
        """Run a partial pass, and push the utterance's text so far if it has changed."""
        before = spoken.hypothesis.text
        text = await spoken.listen(segment)
        if self._spoken is not spoken or (spoken.final is not None and not self._at_fades):
            return
        if spoken.doubtful and self._is_over_answer:
            stamp = time_now_iso8601()
            await self.push_frame(DoubtfulTranscriptionFrame(spoken.doubtful, self._user_id, stamp, self._language))
            return
        if text != before:
            stamp = time_now_iso8601()
            await self.push_frame(InterimTranscriptionFrame(text, self._user_id, stamp, self._language))
        if at_fade and text:
            # The voice has not risen since; otherwise the pass would have been withdrawn.
            await self._announce_fade(spoken)
            await self._push_eager(text)

    async def _announce(self, spoken: Utterance, passing: asyncio.Task[str]) -> None:
        """Push the text of a pass over all words so far, unless speech has gone on or ended."""
        await asyncio.wait([passing])
        if passing.cancelled() or passing.exception() is not None:
            # The task that waits for the utterance's text reports the failure.
            return
        text = passing.result()
        spoken.hypothesis.take(text)
        if text and self._spoken is spoken and passing in (spoken.settling, spoken.final):
            await self._push_eager(text)

    async def _push_eager(self, text: str) -> None:
        kind = RevisedEagerTranscriptionFrame if self._buffer.has_earlier else EagerTranscriptionFrame
        await self.push_frame(kind(str(text), self._user_id, time_now_iso8601(), self._language))

    def _withdraw(self) -> None:
        """Forget the utterance being spoken."""
        if self._spoken is not None:
            self._spoken.withdraw()
        self._spoken = None

    def _finish(self, spoken: Utterance) -> None:
        self._spoken = None
        spoken.withdraw_partial()
        if (segment := self._buffer.close()) is None:
            return
        if segment.dropped:
            logger.warning(
                f"{self.name}: an utterance over {LONGEST_UTTERANCE:.0f} s lost its first {segment.dropped:.1f} s"
            )
        self._expect(spoken, segment)

    def _expect(self, utterance: Utterance, segment: Segment) -> None:
        utterance.segment, self._awaited = segment, utterance
        utterance.delivery = self.create_task(self._recognise(utterance, segment), "utterance")

    async def _part(self) -> None:
        """Stop including earlier utterances, whose text is known, with the latest one."""
        forgotten = self._buffer.forget_earlier()
        if not forgotten:
            return
        if self._spoken is not None:
            self._withdraw()
            self._spoken = Utterance(self._model)
        elif (segment := await self._discard()) is not None:
            self._expect(Utterance(self._model), replace(segment, pcm=segment.pcm[forgotten:]))

    async def _discard(self) -> Segment | None:
        """Discard the awaited result; returns its audio."""
        awaited, self._awaited = self._awaited, None
        if awaited is None:
            return None
        if awaited.delivery is not None:
            await self.cancel_task(awaited.delivery)
        return awaited.segment

    async def _recognise(self, utterance: Utterance, segment: Segment) -> None:
        await self.start_processing_metrics()
        try:
            text = await utterance.text()
        except Exception as error:
            # The engine raises errors of any type, and the call must survive them.
            logger.exception(f"{self.name}: {self._model.name} failed on {segment.seconds:.1f} s of audio")
            await self._deliver(utterance, RecogniserFailedFrame(reason=f"{self._model.name} failed: {error}"))
            return
        await self.stop_processing_metrics()
        utterance.transcript = text
        if text:
            kind = RevisedTranscriptionFrame if self._buffer.has_earlier else TranscriptionFrame
            stamp = time_now_iso8601()
            await self._deliver(utterance, kind(str(text), self._user_id, stamp, self._language, finalized=True))
        else:
            await self._deliver(utterance, NothingHeardFrame())

    async def _deliver(self, utterance: Utterance, frame: Frame) -> None:
        if self._awaited is not utterance:
            return
        # From here on the result is valid: an utterance that begins while it is pushed does not take over its audio.
        self._awaited = None
        self._buffer.text_is_known()
        if not isinstance(frame, TranscriptionFrame):
            await self._part()
        elif utterance.segment is not None and utterance.transcript is not None:
            # The answer to these words must already wait for their check.
            self._begin_check(utterance.segment, utterance.transcript)
        await self.push_frame(frame)
        await self.emit_stt_usage_metrics()  # type: ignore[no-untyped-call]

    def _begin_check(self, segment: Segment, text: str | Transcript) -> None:
        """Check the final words of an utterance, if that pays."""
        seconds = self._model.check_seconds
        if self._checking == "off" or seconds is None or self._model.language not in get_args(Spoken):
            return
        if not self._in_turn:
            # Speech over an answer may be a backchannel, and an interruption has been decided by then.
            return
        if segment.seconds > PASS_SECONDS:
            return
        if self._checking == "auto" and not self._check.pays(seconds):
            self._model.skip_check()
            return
        passing = asyncio.wrap_future(self._model.submit_check(segment.samples()))
        dropped: list[CheckOutcome] = []

        def drop(why: CheckOutcome) -> None:
            dropped.append(why)
            passing.cancel()

        number = self._check.begin(drop, limit=self._check_limit)
        self._follow(self._end_check(number, text, passing, dropped), "check")

    async def _end_check(
        self, number: int, text: str | Transcript, passing: "asyncio.Future[Check]", dropped: Sequence[CheckOutcome]
    ) -> None:
        """Wait for a check, have words replaced that matter, and report the result.

        Args:
            number: of the check.
            text: the words that are checked.
            passing: the pass; cancelled if it is dropped or shed.
            dropped: why nobody waits for it any more; empty otherwise.
        """
        began = time.monotonic()
        try:
            await asyncio.wait([passing])
        finally:
            passing.cancel()
        outcome: CheckOutcome = "same"
        check, changed, ended = None, None, time.monotonic()
        if passing.cancelled() or isinstance(passing.exception(), asyncio.CancelledError):
            outcome = "shed"
        elif (failure := passing.exception()) is not None:
            # The engine raises errors of any type. The words of the first pass stand.
            logger.warning(f"{self.name}: {self._model.name} failed to check its words: {failure}")
            outcome = "failed"
        else:
            check = passing.result()
            if check.text and is_likelier(check.text, text):
                # A long text takes longer than the event loop may.
                changed = await asyncio.to_thread(changed_words, text, check.text, self._spoken_language)
        if check is not None and check.text and changed is not None and self._check.awaits(number):
            outcome = "changed"
            stamp = time_now_iso8601()
            await self.push_frame(
                CheckedTranscriptionFrame(
                    str(check.text), self._user_id, stamp, self._language, finalized=True, check=number
                )
            )
            try:
                async with asyncio.timeout(REPLACED_WITHIN):
                    await self._check.settled()
            except TimeoutError:
                logger.warning(f"{self.name}: corrected words did not reach the conversation")
                self._check.drop()
        self._check.end(number)
        record = CheckRecord(
            outcome=dropped[0] if dropped else outcome,
            began=began,
            ended=ended,
            seconds=None if check is None else round(check.seconds, 4),
            before=changed.before if changed else None,
            after=changed.after if changed else None,
        )
        await self.push_frame(WordsCheckedFrame(record=record))

    @property
    def _spoken_language(self) -> Spoken:
        return "de" if self._model.language == "de" else "en"


def is_likelier(check: Transcript, text: str | Transcript) -> bool:
    """Whether the text of a check is likelier than that of the first pass, each by its own pass.

    Of 19 changes by whole windows (121 recordings, 48 speakers), 13 were likelier: these mended 10 texts and spoiled 3;
    the others mended none and spoiled 4.
    """
    return not isinstance(text, Transcript) or check.log_probability > text.log_probability
