"""PocketSphinx as a pipecat speech recogniser: it streams each utterance to a worker process while it is spoken."""

import asyncio
import time
from collections.abc import AsyncGenerator
from typing import Any

from loguru import logger
from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    CancelFrame,
    EagerTranscriptionFrame,
    EndFrame,
    Frame,
    InterimTranscriptionFrame,
    StartFrame,
    STTMuteFrame,
    TranscriptionFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessorSetup
from pipecat.services.settings import STTSettings
from pipecat.services.stt_service import STTService
from pipecat.transcriptions.language import Language
from pipecat.utils.time import time_now_iso8601

from voice.asr.sphinx.messages import SAMPLE_RATE, Command, Final, Partial, Peeked, PeekUtterance, Reply
from voice.asr.sphinx.pool import SphinxPool, SphinxWorker, WorkerDied
from voice.asr.sphinx.utterances import Utterances
from voice.errors import ComponentError, ConfigurationError
from voice.frames import (
    EagerHintFrame,
    NothingHeardFrame,
    OverlapEvidenceFrame,
    RecogniserFailedFrame,
    SpeechResumedFrame,
)

__all__ = ["SphinxPool", "SphinxSTTService"]

TTFS_P99 = 0.4
"""Seconds from the end of speech to the final text, 99th percentile, including the detector's 0.2 s of silence.

Measured in real time with the recorded requests of samples/, on two slow cores: median 0.28, p99 0.33 and 0.39 in two
runs (`python -m pytest tests/benchmarks/test_sphinx.py -m slow -s`). Turn taking waits this long only if neither a text
nor a NothingHeardFrame nor a RecogniserFailedFrame comes.
"""

RETRY_AFTER = 2.0
"""Seconds between two attempts to start a worker; utterances that begin meanwhile are lost."""

TEXT_TIMEOUT = 4.0
"""Seconds after the end of speech in which the text must come; less than the 5 s after which pipecat ends a turn
without one."""


class SphinxSTTService(STTService):
    """Recognises US English with PocketSphinx.

    Place a VADProcessor before it: its frames start and finish the utterances. While the user speaks, it pushes
    InterimTranscriptionFrames. For every finished utterance it pushes a TranscriptionFrame with `finalized` set, a
    NothingHeardFrame, or, if the worker has failed, a RecogniserFailedFrame (the ErrorFrame goes upstream at once, this
    frame once the user has stopped speaking). If speech goes on before the text comes, a non-empty text is pushed as a
    TranscriptionFrame without `finalized`. After an EagerHintFrame it pushes an EagerTranscriptionFrame of the words so
    far, unless there are none, or speech goes on or ends first; the final text may differ. Before the texts of a short
    sound that begins while the agent speaks, it pushes OverlapEvidenceFrames.

    Args:
        pool: The pool of workers; the service does not close it.
        pre_roll: Seconds of audio before the reported start of speech that belong to an utterance.
        ttfs_p99_latency: Seconds from the end of speech to the final text that turn taking should expect.
        text_timeout: Seconds after the end of speech in which the text must come; a worker that takes longer has hung.
            The end of a call waits as long for its last text.
        **options: Passed to pipecat's STTService.
    """

    def __init__(
        self,
        *,
        pool: SphinxPool,
        pre_roll: float = 0.5,
        ttfs_p99_latency: float = TTFS_P99,
        text_timeout: float = TEXT_TIMEOUT,
        **options: Any,
    ) -> None:
        super().__init__(
            sample_rate=SAMPLE_RATE,
            ttfs_p99_latency=ttfs_p99_latency,
            settings=STTSettings(model=pool.language_model.name, language=Language.EN_US),
            **options,
        )
        self._text_timeout = text_timeout
        self._utterances = Utterances(pre_roll=pre_roll)
        self._pool = pool
        self._worker: SphinxWorker | None = None
        self._unsent: list[Command] = []
        """Commands that wait for a worker."""
        self._finished = 0.0
        """The end of the last utterance."""
        self._hinted: int | None = None  # the utterance that has probably ended
        self._answer_sounds = False
        self._partial = ""
        """The latest text pushed of the utterance being spoken."""
        self._lost: str | None = None  # why the utterance being spoken will have no text
        self._down: str | None = None
        """Why there is no worker; None while there is one or the first is starting."""
        self._settled = asyncio.Event()
        self._settled.set()
        self._deadline: asyncio.TimerHandle | None = None
        self._listening: asyncio.Task[None] | None = None

    def can_generate_metrics(self) -> bool:
        """True: the time to the final text is reported."""
        return True

    async def setup(self, setup: FrameProcessorSetup) -> None:  # type: ignore[override]
        """Refuse sample rates other than 16 kHz, the rate of the models.

        Raises:
            ConfigurationError: The pipeline's input has another rate.
        """
        if setup.audio_in_sample_rate != SAMPLE_RATE:
            raise ConfigurationError(
                f"PocketSphinx needs audio at {SAMPLE_RATE} Hz, not {setup.audio_in_sample_rate} Hz: set "
                f"audio_in_sample_rate to {SAMPLE_RATE}."
            )
        await super().setup(setup)

    async def start(self, frame: StartFrame) -> None:
        """Take a worker from the pool, without delaying the start of the pipeline."""
        await super().start(frame)
        self._listening = self.create_task(self._listen(), name="listen")

    async def stop(self, frame: EndFrame) -> None:
        """Wait up to `text_timeout` for the text of the last utterance, then return the worker."""
        try:
            async with asyncio.timeout(self._text_timeout):
                await self._settled.wait()
        except TimeoutError:
            logger.warning(f"{self}: the call ended before the text of its last utterance came.")
        await self._leave()
        await super().stop(frame)

    async def cancel(self, frame: CancelFrame) -> None:
        """Return the worker at once, and forget the utterance being spoken."""
        await self._leave()
        await super().cancel(frame)

    async def cleanup(self) -> None:
        """Return the worker, unless that has happened at the end or the cancellation of the call."""
        await self._leave()
        await super().cleanup()  # type: ignore[no-untyped-call]

    async def run_stt(self, audio: bytes) -> AsyncGenerator[Frame | None, None]:
        """Send an utterance's audio to the worker; `_listen` pushes the texts when they come."""
        self._send(self._utterances.hear(audio))
        yield None

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Start and finish utterances by the detector's frames."""
        await super().process_frame(frame, direction)
        if isinstance(frame, VADUserStartedSpeakingFrame) and self._listening is not None and not self.is_muted:
            self._lost = self._down
            if self._down is None:
                self._partial = ""
                self._send(self._utterances.begin(over_answer=self._answer_sounds))
        elif isinstance(frame, VADUserStoppedSpeakingFrame):
            await self._finish()
        elif isinstance(frame, EagerHintFrame) and (spoken := self._utterances.current) is not None:
            self._hinted = spoken
            self._send([PeekUtterance(spoken)])
        elif isinstance(frame, SpeechResumedFrame):
            self._hinted = None
        elif isinstance(frame, BotStartedSpeakingFrame | BotStoppedSpeakingFrame):
            self._answer_sounds = isinstance(frame, BotStartedSpeakingFrame)
        elif isinstance(frame, STTMuteFrame) and frame.mute:
            self._send(self._utterances.abandon())
            self._settled.set()

    async def _finish(self) -> None:
        self._hinted = None
        spoken = self._utterances.current
        commands = self._utterances.finish()
        if spoken is not None:
            self._settled.clear()
            self.request_finalize()  # type: ignore[no-untyped-call]
            self._send(commands)
            self._finished = time.monotonic()
            if self._deadline is not None:
                self._deadline.cancel()
            self._deadline = asyncio.get_running_loop().call_later(self._text_timeout, self._give_up, spoken)
        elif self._lost is not None:
            reason, self._lost = self._lost, None
            await self.push_frame(RecogniserFailedFrame(reason=reason))

    def _give_up(self, utterance: int) -> None:
        if self._utterances.is_awaited(utterance) and self._worker is not None:
            logger.warning(f"{self}: no text {self._text_timeout:.0f} s after the end of speech; its process is killed")
            self._worker.kill()

    async def _listen(self) -> None:
        """Push the worker's results, and replace the worker whenever it fails."""
        while True:
            try:
                worker = await self._pool.acquire()
            except ComponentError as error:
                if self._down is None:
                    await self.push_error(str(error), exception=error)
                self._down = str(error)
                await self._fail(self._down)
                await asyncio.sleep(RETRY_AFTER)
                continue
            self._worker, self._down = worker, None
            worker.send(self._unsent)
            self._unsent.clear()
            try:
                while True:
                    await self._answer(await worker.receive())
            except WorkerDied as error:
                self._release()
                await self._report_death(str(error))

    async def _report_death(self, reason: str) -> None:
        if self._utterances.is_pending:
            await self.push_error(f"The speech recogniser broke down during an utterance: {reason}.")
        else:
            logger.warning(f"{self}: {reason}; no utterance was being recognised.")
        await self._fail(reason)

    async def _fail(self, reason: str) -> None:
        """Report a lost utterance, but only at its end: otherwise the turn would end while the user speaks."""
        is_spoken, is_pending = self._utterances.current is not None, self._utterances.is_pending
        self._lose()
        if is_spoken:
            self._lost = reason
        elif is_pending:
            await self.push_frame(RecogniserFailedFrame(reason=reason))

    def _lose(self) -> None:
        self._utterances.lose()
        self._unsent.clear()
        self._settled.set()

    async def _answer(self, reply: Reply) -> None:
        if isinstance(reply, Partial) and reply.utterance == self._utterances.current:
            await self._push_evidence(reply.evidence)
            if reply.text != self._partial:
                self._partial = reply.text
                await self._push_text(InterimTranscriptionFrame, reply.text)
        elif isinstance(reply, Peeked) and reply.utterance == self._hinted:
            await self._push_evidence(reply.evidence)
            if reply.text:
                await self._push_text(EagerTranscriptionFrame, reply.text)
        elif isinstance(reply, Final) and self._utterances.is_awaited(reply.utterance):
            is_last = self._utterances.answered(reply.utterance)
            now = time.monotonic()
            if is_last:
                self._pool.waits.note(max(0.0, now - self._finished - reply.finish_seconds), now)
            logger.debug(
                f"{self}: [{reply.text}] after {reply.finish_seconds * 1000:.0f} ms, "
                f"{reply.decode_seconds:.2f} s of work in total"
            )
            if is_last:
                self.confirm_finalize()  # type: ignore[no-untyped-call]
            await self._push_evidence(reply.evidence)
            if reply.text:
                await self._push_text(TranscriptionFrame, reply.text)
            elif is_last:
                await self.push_frame(NothingHeardFrame())
            if is_last:
                self._settled.set()

    async def _push_evidence(self, nats: float | None) -> None:
        if nats is not None:
            await self.push_frame(OverlapEvidenceFrame(nats=nats))

    async def _push_text(
        self, kind: type[InterimTranscriptionFrame | EagerTranscriptionFrame | TranscriptionFrame], text: str
    ) -> None:
        stamp = time_now_iso8601()
        await self.push_frame(kind(text=text, user_id=self._user_id, timestamp=stamp, language=Language.EN_US))

    async def _leave(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        listening, self._listening = self._listening, None
        if listening is not None:
            await self.cancel_task(listening)
        self._release()
        self._lose()

    def _send(self, commands: list[Command]) -> None:
        if self._worker is None:
            self._unsent += commands
        else:
            self._worker.send(commands)

    def _release(self) -> None:
        if self._worker is not None:
            self._pool.release(self._worker)
        self._worker = None
