"""Recognises an utterance after it has ended, with faster-whisper: one model in memory, shared by all calls.

`SharedWhisper` decodes audio and knows no turns; `WhisperSTTService` knows which audio is an utterance and whether its
result is still wanted. Between them pass float32 samples and text.

On small machines set `OPENBLAS_NUM_THREADS=1` and `OMP_WAIT_POLICY=passive` before numpy is imported: idle OpenBLAS
workers spin for 70-100 ms on a second core after every feature extraction.
"""

import asyncio
import math
import time
from collections.abc import AsyncGenerator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from loguru import logger
from numpy.typing import NDArray
from pipecat.audio.vad.vad_analyzer import VAD_STOP_SECS
from pipecat.frames.frames import (
    CancelFrame,
    EndFrame,
    Frame,
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

from voice.asr.frames import NothingHeardFrame, RecogniserFailedFrame
from voice.asr.segment import Segment, SegmentBuffer
from voice.asr.weights import from_folder
from voice.errors import ComponentError, ConfigurationError

if TYPE_CHECKING:
    from faster_whisper import WhisperModel

SAMPLE_RATE = 16_000
WINDOW = 30.0  # seconds of audio in one pass of Whisper
# Whisper was trained to write at most 224 tokens a window. English at reading speed is 4 tokens a second, spelled
# letters with commas 8; the constant leaves room for punctuation in the shortest answers. A runaway decode of 2 s of
# speech then costs 32 tokens, not 224.
TOKENS_AT_MOST, TOKENS_PER_SECOND, TOKENS_ALWAYS = 224, 8, 16
# Whisper's own rules: a window is silence when both no_speech and low probability say so, and a text that compresses
# better than 2.4 is a loop.
NO_SPEECH_PROBABILITY, LOW_LOG_PROBABILITY, LOOP_COMPRESSION = 0.6, -1.0, 2.4
# Models drop or garble a last word that the audio ends on; pipecat pads its segments by as much for this reason. It
# costs nothing, because every pass encodes a whole window.
TRAILING_SILENCE = 0.5

PRE_ROLL = 0.7
"""Seconds kept from before the detector's report: 0.2 s that it takes to report, and 0.5 s of a soft beginning."""
LONGEST = 2 * WINDOW
"""Seconds of an utterance that are recognised: more passes than two would keep the caller waiting for seconds."""


class SharedWhisper:
    """One Whisper model in memory and the thread that runs it.

    Calls share it; their utterances are decoded one after the other, first come first served, outside the default
    executor, where they would hold up the detector. A decode that runs cannot be stopped, only its result ignored.
    """

    def __init__(self, model: "WhisperModel", *, name: str, language: str | None, num_workers: int) -> None:
        self.name = name
        """What the model is called in reports; begins with "scripted:" for a test double."""
        self.language = language
        """The language spoken; None lets a multilingual model find out, at the cost of a second encoder pass."""
        self._model = model
        # CTranslate2 generates half of the length it is given, prompt included: start of transcript, language and task
        # (multilingual models only), no timestamps.
        self._prompt_tokens = 4 if model.model.is_multilingual else 2
        self._threads = ThreadPoolExecutor(num_workers, thread_name_prefix="whisper")
        began = time.perf_counter()
        self.submit(np.zeros(SAMPLE_RATE, np.float32)).result()
        self.pass_seconds = time.perf_counter() - began
        """Wall time of a first pass over one window with next to no text."""

    @classmethod
    def load(
        cls,
        path: Path,
        *,
        name: str | None = None,
        device: str = "cpu",
        compute_type: str = "int8",
        cpu_threads: int = 1,
        num_workers: int = 1,
        language: str | None = "en",
    ) -> Self:
        """Load a model folder and run it once; blocks for about a second.

        Args:
            path: Folder in CTranslate2 format (see `voice.asr.weights`).
            name: What to call it; None for the folder's own name.
            device: "cpu" or "cuda".
            compute_type: CTranslate2's; int8 halves memory and the decoder's time on a CPU.
            cpu_threads: Threads of one decode. A second one slows the decoder's small matrices down.
            num_workers: Decodes that run at the same time; each takes memory for its state, not for the weights.
            language: The language spoken, such as "en"; None to have a multilingual model detect it.

        Raises:
            ConfigurationError: The folder is not a model, or it does not know the language or compute type.
            ComponentError: The engine cannot load or run it.
        """
        folder_name = from_folder(path).name
        try:
            model = _engine(path)(
                str(path), device=device, compute_type=compute_type, cpu_threads=cpu_threads, num_workers=num_workers
            )
            if language is not None and language not in model.supported_languages:
                raise ConfigurationError(
                    f"The Whisper model {name or folder_name} does not know asr.language {language!r}; "
                    "only models without .en in their name know others than 'en'."
                )
            return cls(model, name=name or folder_name, language=language, num_workers=num_workers)
        except ValueError as error:
            raise ConfigurationError(f"Whisper cannot run on {device} with {compute_type}: {error}.") from error
        except RuntimeError as error:
            raise ComponentError(
                f"The Whisper model in {path} does not run on {device}: {error}; copy or download it again, "
                'or set asr.device = "cpu".'
            ) from error

    def submit(self, audio: NDArray[np.float32]) -> "Future[str]":
        """Have `audio` decoded on the model's own thread; arguments and result as in `transcribe`."""
        return self._threads.submit(self.transcribe, audio)

    def transcribe(self, audio: NDArray[np.float32]) -> str:
        """Decode an utterance; blocks.

        Args:
            audio: float32 in -1..1, 16 kHz mono, shape (samples,).

        Returns:
            The text as Whisper writes it, with capitals and punctuation; empty when no speech was found.
        """
        seconds = len(audio) / SAMPLE_RATE
        cap = min(TOKENS_AT_MOST, TOKENS_ALWAYS + math.ceil(TOKENS_PER_SECOND * min(seconds, WINDOW)))
        padding = round(min(TRAILING_SILENCE, -seconds % WINDOW) * SAMPLE_RATE)
        segments, _ = self._model.transcribe(
            np.pad(audio, (0, padding)),
            language=self.language,
            beam_size=1,
            temperature=0.0,
            condition_on_previous_text=False,
            without_timestamps=True,
            max_new_tokens=2 * cap - self._prompt_tokens,
            no_speech_threshold=NO_SPEECH_PROBABILITY,
            log_prob_threshold=LOW_LOG_PROBABILITY,
            compression_ratio_threshold=LOOP_COMPRESSION,
        )
        kept = []
        for segment in segments:
            if len(segment.tokens) >= cap:
                logger.warning(f"{self.name}: cut at {cap} tokens for {seconds:.1f} s of audio")
                if segment.compression_ratio > LOOP_COMPRESSION:
                    continue
            kept.append(segment.text.strip())
        text = " ".join(kept)
        return text if any(character.isalnum() for character in text) else ""

    def close(self) -> None:
        """Let go of the thread; decodes that have not begun are dropped."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _engine(path: Path) -> "type[WhisperModel]":
    """What runs a model folder: faster-whisper, or the double that hears what its script says."""
    if (path / "script.json").exists():
        from voice.asr.scripted.model import ScriptedWhisperModel

        return ScriptedWhisperModel
    from faster_whisper import WhisperModel

    return WhisperModel


class WhisperSTTService(STTService):
    """Transcribes each utterance once, after the detector has reported its end.

    Pushes one finalised `TranscriptionFrame` an utterance, or a `NothingHeardFrame`, or a `RecogniserFailedFrame`.
    When the user goes on before the result is there, that result is discarded and its audio becomes the beginning of
    the new utterance: nothing is heard twice and no word is lost.

    This is an `STTService`, not pipecat's `SegmentedSTTService`, because that one transcribes and pushes every
    segment in its order of arrival, knows no utterance to discard, and hides its buffer.

    Args:
        model: The model that all calls share; the service does not close it.
        pre_roll: Seconds of audio kept from before the detector's report of speech.
        ttfs_p99_latency: Seconds from the end of speech to the transcript, 99th percentile; None takes the detector's
            wait and twice the model's measured pass, which leaves room for the text and for a busy machine.
        kwargs: Passed on to `STTService`.
    """

    def __init__(
        self,
        model: SharedWhisper,
        *,
        pre_roll: float = PRE_ROLL,
        ttfs_p99_latency: float | None = None,
        **kwargs: Any,
    ) -> None:
        self._language = None if model.language is None else Language(model.language)
        super().__init__(
            settings=STTSettings(model=model.name, language=self._language),
            ttfs_p99_latency=VAD_STOP_SECS + 2 * model.pass_seconds if ttfs_p99_latency is None else ttfs_p99_latency,
            **kwargs,
        )
        self._model = model
        self._buffer = SegmentBuffer(sample_rate=SAMPLE_RATE, pre_roll=pre_roll, limit=LONGEST)
        self._awaited: Segment | None = None
        self._decode: asyncio.Task[None] | None = None

    def can_generate_metrics(self) -> bool:
        """Reports time to the final transcript and decoding time."""
        return True

    # pipecat's FrameProcessor itself widens what its base says of `setup`.
    async def setup(self, setup: FrameProcessorSetup) -> None:  # type: ignore[override]
        """Refuses audio at another rate than Whisper's."""
        await super().setup(setup)
        if self.sample_rate != SAMPLE_RATE:
            raise ConfigurationError(f"Whisper hears 16000 Hz, not {self.sample_rate}: set audio_in_sample_rate=16000.")

    async def run_stt(self, audio: bytes) -> AsyncGenerator[Frame | None, None]:
        """Keeps the audio; decoding begins when the detector reports the end."""
        self._buffer.append(audio)
        yield None

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Begins and ends utterances with the detector's reports."""
        await super().process_frame(frame, direction)
        if isinstance(frame, VADUserStartedSpeakingFrame) and not self.is_muted:
            self._buffer.open(resumed=await self._discard())
        elif isinstance(frame, VADUserStoppedSpeakingFrame) and (segment := self._buffer.close()):
            self._begin(segment)
        elif isinstance(frame, STTMuteFrame) and frame.mute:
            self._buffer.clear()

    async def stop(self, frame: EndFrame) -> None:
        """Waits for the utterance that is being decoded."""
        if self._awaited is not None and self._decode is not None:
            await self._decode
        await super().stop(frame)

    async def cancel(self, frame: CancelFrame) -> None:
        """Drops the utterance that is being decoded."""
        await self._discard()
        await super().cancel(frame)

    async def cleanup(self) -> None:
        """Drops what is left of a session that ended without a farewell."""
        await self._discard()
        self._buffer.clear()
        await super().cleanup()  # type: ignore[no-untyped-call]

    def _begin(self, segment: Segment) -> None:
        if segment.dropped:
            logger.warning(f"{self.name}: an utterance over {LONGEST:.0f} s lost its first {segment.dropped:.1f} s")
        self._awaited = segment
        self._decode = self.create_task(self._recognise(segment), f"utterance_{segment.id}")

    async def _discard(self) -> Segment | None:
        """Give up the result that is awaited; returns its audio."""
        segment, self._awaited = self._awaited, None
        if segment is not None and self._decode is not None:
            await self.cancel_task(self._decode)
        return segment

    async def _recognise(self, segment: Segment) -> None:
        await self.start_processing_metrics()
        try:
            text = await asyncio.wrap_future(self._model.submit(segment.samples()))
        except Exception as error:
            # The engine's errors are of any type, and the call must outlive them.
            logger.exception(f"{self.name}: {self._model.name} failed on {segment.seconds:.1f} s of audio")
            await self._deliver(segment, RecogniserFailedFrame(reason=f"{self._model.name} failed: {error}"))
            return
        await self.stop_processing_metrics()
        if text:
            stamp = time_now_iso8601()
            await self._deliver(segment, TranscriptionFrame(text, self._user_id, stamp, self._language, finalized=True))
        else:
            await self._deliver(segment, NothingHeardFrame())

    async def _deliver(self, segment: Segment, frame: Frame) -> None:
        if self._awaited is None or self._awaited.id != segment.id:
            return
        # From here on the result counts: an utterance that begins while it is pushed does not take its audio over.
        self._awaited = None
        await self.push_frame(frame)
        await self.emit_stt_usage_metrics()  # type: ignore[no-untyped-call]
