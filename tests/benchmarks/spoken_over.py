"""An answer that is spoken over, on a virtual clock: the detector, the recogniser and the decision are the product's.

Passes and searches run as fast as they can, and their texts come after the processor time that they took.
"""

import asyncio
import functools
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Protocol

import numpy as np
import pytest
from pipecat.audio.vad.vad_analyzer import VADParams, VADState
from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    EagerTranscriptionFrame,
    Frame,
    InputAudioRawFrame,
    InterimTranscriptionFrame,
    TranscriptionFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.processors.frame_processor import FrameDirection

import voice.asr.whisper.model
from pipelines.lab.whatif.virtual_answer import VirtualLoop
from tests.voice.turns.barge_in.test_turn_start import Voice
from voice.asr.sphinx.messages import (
    Audio,
    Command,
    FinishUtterance,
    Partial,
    Peeked,
    PeekUtterance,
    StartUtterance,
)
from voice.asr.sphinx.worker import Recognition
from voice.asr.whisper.model import SharedWhisper
from voice.asr.whisper.service import WhisperSTTService
from voice.client.sound.pcm import RATE, Pcm
from voice.frames import EagerHintFrame, NothingHeardFrame, OverlapEvidenceFrame, SpeechResumedFrame
from voice.inference_queue import InferenceJob, IsWanted, Text
from voice.turns.barge_in.decision import Rules
from voice.turns.barge_in.turn_start import BargeInStart
from voice.turns.own_voice import OwnVoiceGate, SpokenWords
from voice.turns.turn_models import TurnModels

CHUNK = RATE // 50
PRE_ROLL = RATE // 2
NOISE = -65.0
"""dBFS of the line's noise."""
WIRE = 0.003
"""Seconds from the recogniser's process to the call's."""
RULES = Rules(decide=0.65, short=0.5, hold=2.0)
"""The settings' own."""
FADES = 0.2
"""Seconds from a stop to the end of the agent's voice on the line."""
LISTENS_AFTER = 1.5
"""Seconds of silence played after a sound."""

Deliver = Callable[[Frame], Coroutine[Any, Any, None]]


def run_virtually(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a coroutine on a virtual clock."""
    loop = VirtualLoop()
    try:
        loop.run_until_complete(work())
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()


class VirtualQueue:
    """Runs passes as `InferenceQueue` does; on the virtual clock, each takes the processor time that it took."""

    def __init__(self) -> None:
        self._waiting: list[InferenceJob[Any]] = []
        self._running: set[InferenceJob[Any]] = set()
        self._began: float | None = None
        self.passes = 0

    def monotonic(self) -> float:
        """The time in a pass, or on the loop."""
        now = asyncio.get_running_loop().time()
        return now if self._began is None else now + time.process_time() - self._began

    @property
    def is_idle(self) -> bool:
        """Whether no pass runs or waits."""
        return not self._running and not any(job.is_wanted for job in self._waiting)

    def submit(self, decode: Callable[[IsWanted], Text], **_: Any) -> InferenceJob[Text]:
        """Queue a pass."""
        job = InferenceJob(decode, self._begin)
        self._waiting.append(job)
        self._begin()
        return job

    def _begin(self) -> None:
        self._waiting = [job for job in self._waiting if job.is_wanted]
        if not self._waiting or self._began is not None:
            return
        if len(self._running) > 1 or any(job.is_wanted for job in self._running):
            return
        job = self._waiting.pop(0)
        self._running.add(job)
        self.passes += 1
        self._began = time.process_time()
        deliver = job.decode()
        took, self._began = time.process_time() - self._began, None
        asyncio.get_running_loop().call_later(took, self._done, job, deliver)

    def _done(self, job: InferenceJob[Any], deliver: Callable[[], None]) -> None:
        self._running.discard(job)
        deliver()
        self._begin()


@contextmanager
def on_virtual_clock(model: SharedWhisper) -> Iterator[VirtualQueue]:
    """Whisper's passes on the virtual clock."""
    queue = VirtualQueue()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model, "_queue", queue)
        clock = SimpleNamespace(monotonic=queue.monotonic, perf_counter=queue.monotonic)
        patch.setattr(voice.asr.whisper.model, "time", clock)
        # The last sound's passes ended at another time of another clock, and a busy machine makes passes look slow.
        patch.setattr(model, "_pace", voice.asr.whisper.model.PassPacing(_usual_pass(model)))
        yield queue


@functools.cache
def _usual_pass(model: SharedWhisper) -> float:
    """Processor seconds of a pass over a second of audio."""
    began = time.process_time()
    model.transcribe(np.zeros(RATE, np.float32))
    return time.process_time() - began


class Hearing(Protocol):
    """A recogniser of one sound."""

    async def audio(self, chunk: bytes, before: bytes) -> None:
        """Take 20 ms of the line, and the half second before."""

    async def told(self, frame: Frame) -> None:
        """Take a frame of the detector, or one that a later processor sends back."""


class SphinxHearing:
    """PocketSphinx, whose replies come after the processor time that they took."""

    def __init__(self, recognition: Recognition, deliver: Deliver) -> None:
        self._recognition, self._deliver = recognition, deliver
        self._free = -9.0
        self._speaking = self._hinted = False
        self._text = ""

    async def audio(self, chunk: bytes, before: bytes) -> None:
        """See `Hearing`."""
        if self._speaking:
            await self._carry_out(Audio(chunk))
        self._before = before + chunk

    async def told(self, frame: Frame) -> None:
        """See `Hearing`."""
        match frame:
            case VADUserStartedSpeakingFrame():
                self._speaking = True
                await self._carry_out(StartUtterance(2, over_answer=True))
                await self._carry_out(Audio(self._before))
            case VADUserStoppedSpeakingFrame():
                self._speaking = self._hinted = False
                await self._carry_out(FinishUtterance(2))
            case EagerHintFrame():
                self._hinted = True
                await self._carry_out(PeekUtterance(2))
            case SpeechResumedFrame():
                self._hinted = False
            case _:
                pass

    async def _carry_out(self, command: Command) -> None:
        loop = asyncio.get_running_loop()
        began = time.thread_time()
        reply = self._recognition.carry_out(command)
        self._free = max(self._free, loop.time()) + time.thread_time() - began
        text = getattr(reply, "text", None)
        evidence = getattr(reply, "evidence", None)
        frames: list[Frame] = [] if evidence is None else [OverlapEvidenceFrame(nats=evidence)]
        if isinstance(reply, Partial):
            if text != self._text:
                frames.append(InterimTranscriptionFrame(reply.text, "", ""))
            self._text = reply.text
        elif isinstance(reply, Peeked):
            if reply.text:
                frames.append(EagerTranscriptionFrame(reply.text, "", ""))
        elif text is not None:
            frames.append(TranscriptionFrame(text, "", "", finalized=True) if text else NothingHeardFrame())
        if frames:
            loop.call_at(self._free + WIRE, lambda: asyncio.ensure_future(self._give(frames)))

    async def _give(self, frames: list[Frame]) -> None:
        for frame in frames:
            if self._hinted or not isinstance(frame, EagerTranscriptionFrame):
                await self._deliver(frame)


class WhisperHearing:
    """Whisper's service of a call, without a pipeline around it."""

    def __init__(self, model: SharedWhisper, deliver: Deliver) -> None:
        self.service = WhisperSTTService(model, at_fades=True)

        async def push(frame: Frame, direction: FrameDirection = FrameDirection.DOWNSTREAM) -> None:
            if direction is FrameDirection.DOWNSTREAM:
                await deliver(frame)

        async def cancel(task: asyncio.Task[Any], timeout: float | None = None) -> None:
            task.cancel()
            await asyncio.wait([task])

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(self.service, "push_frame", push)
            patch.setattr(self.service, "create_task", lambda work, name=None: asyncio.ensure_future(work))
            patch.setattr(self.service, "cancel_task", cancel)
            patch.undo = lambda: None  # type: ignore[method-assign]

    async def audio(self, chunk: bytes, before: bytes) -> None:
        """See `Hearing`."""
        async for _ in self.service.run_stt(chunk):
            pass

    async def told(self, frame: Frame) -> None:
        """See `Hearing`."""
        await self.service.process_frame(frame, FrameDirection.DOWNSTREAM)


@dataclass(frozen=True, slots=True)
class Echo:
    """The agent's voice on the caller's line.

    Parameters:
        sound: from the answer's beginning, at its level on the line.
        words: what is spoken, with the seconds at which each word ends.
    """

    sound: Pcm
    words: Sequence[tuple[str, float]]


class SpokenOver:
    """An answer that is spoken over by one sound, which begins at 0 seconds of `now`.

    Args:
        models: the detector's.
        hearing: makes the recogniser, given where its frames go.
        saying: the sentence being spoken.
        whole_request: whether words are a whole request for the agent; None if it cannot tell.
        echo: the agent's voice on the line; None for silence.
        lead: seconds of the answer before the sound.
    """

    def __init__(
        self,
        models: TurnModels,
        hearing: Callable[[Deliver], Hearing],
        *,
        saying: str = "7, 8, 9, 10, 11",
        whole_request: Callable[[str], bool | None] = lambda text: None,
        echo: Echo | None = None,
        lead: float = 1.0,
    ) -> None:
        self.vad = models.vad(VADParams(confidence=0.7, start_secs=0.2, stop_secs=0.2, min_volume=0.4))
        self.vad.set_sample_rate(RATE)
        self.voice = Voice(saying=saying)
        self._lead, self._echo = lead, echo
        self.silenced: float | None = None
        """When the answer first fell silent, for good or for a moment."""
        self.stopped: float | None = None
        self.texts: list[tuple[float, str, str]] = []
        """Times, kinds and texts of the recogniser."""
        self.turn: list[str] = []
        """The final texts from the stop on."""
        spoken = SpokenWords()
        self._spoken = spoken
        self._gate = OwnVoiceGate(spoken, clock=lambda: asyncio.get_running_loop().time())
        self._gate.push_frame = self._pass_on  # type: ignore[method-assign]
        self._hearing = hearing(self._from_recogniser)
        self.start = BargeInStart(
            vad=self.vad,
            voice=self.voice,
            rules=RULES,
            far=0,
            set_aside=lambda: None,
            whole_request=whole_request,
            is_own=self._gate.is_own,
            hears_itself=lambda: self._gate.hearing.hears_itself,
            clock=lambda: asyncio.get_running_loop().time(),
        )

        @self.start.event_handler("on_user_turn_started")  # type: ignore[untyped-decorator]
        async def started(*_: object) -> None:
            self.stopped = self.now
            self._silent()

    @property
    def now(self) -> float:
        """Seconds since the sound's beginning."""
        return asyncio.get_running_loop().time() - self._lead

    async def hear(self, sound: Pcm, seed: int, *, to_end: bool = False) -> None:
        """Play the sound on the line, with silence before and after it; `to_end` goes on after a stop."""
        rng = np.random.default_rng(seed)
        self._lead += int(rng.integers(0, 512)) / RATE
        before = round(self._lead * RATE)
        line = np.concatenate([np.zeros(before), sound, np.zeros(round(LISTENS_AFTER * RATE))])
        line += rng.standard_normal(len(line)) * 32768 * 10 ** (NOISE / 20)
        echo = np.zeros(len(line))
        if self._echo is not None:
            length = min(len(line), len(self._echo.sound))
            echo[:length] = self._echo.sound[:length]
        pcm = np.clip(line + echo, -32768, 32767).astype(np.int16)
        await self._started()
        loop = asyncio.get_running_loop()
        hinted = speaking = fallen = False
        words = list(self._echo.words) if self._echo else []
        for at in range(0, len(pcm) - CHUNK, CHUNK):
            await asyncio.sleep((at + CHUNK) / RATE - loop.time())
            if self.stopped is not None and not to_end:
                break
            while words and words[0][1] <= loop.time() and self.silenced is None:
                self._spoken.add(words.pop(0)[0], loop.time())
            if self.silenced is not None and not fallen and self.now >= self.silenced + FADES:
                fallen = True
                pcm[at:] = np.clip(line[at:], -32768, 32767).astype(np.int16)
            chunk = pcm[at : at + CHUNK].tobytes()
            state = await self.vad.analyze_audio(chunk)
            await self._hearing.audio(chunk, pcm[max(0, at - PRE_ROLL) : at].tobytes())
            pause = self.vad.pause
            if not speaking and state is VADState.SPEAKING:
                speaking = True
                await self._detector(VADUserStartedSpeakingFrame(start_secs=0.2))
            elif speaking and state is VADState.QUIET:
                speaking = hinted = False
                await self._detector(VADUserStoppedSpeakingFrame(stop_secs=0.2))
            elif pause is not None and not hinted and pause >= 0.064:
                hinted = True
                await self._detector(EagerHintFrame(silence=pause))
            elif hinted and not pause:
                hinted = False
                await self._detector(SpeechResumedFrame())
            if self.stopped is None:
                await self.start.process_frame(InputAudioRawFrame(chunk, RATE, 1))
                if "silence" in self.voice.done:
                    self._silent()

    def _silent(self) -> None:
        self.silenced = self.now if self.silenced is None else self.silenced

    async def _started(self) -> None:
        frame = BotStartedSpeakingFrame()
        await self.start.process_frame(frame)
        await self._gate.process_frame(frame, FrameDirection.UPSTREAM)
        await self._hearing.told(frame)

    async def _detector(self, frame: Frame) -> None:
        await self._hearing.told(frame)
        await self._from_recogniser(frame)

    async def _from_recogniser(self, frame: Frame) -> None:
        if isinstance(frame, InterimTranscriptionFrame | EagerTranscriptionFrame | TranscriptionFrame):
            self.texts.append((round(self.now, 2), type(frame).__name__.replace("Frame", ""), frame.text))
        elif isinstance(frame, NothingHeardFrame):
            self.texts.append((round(self.now, 2), "Nothing", ""))
        await self._gate.process_frame(frame, FrameDirection.DOWNSTREAM)

    async def _pass_on(self, frame: Frame, direction: FrameDirection = FrameDirection.DOWNSTREAM) -> None:
        if direction is FrameDirection.UPSTREAM:
            await self._hearing.told(frame)
            return
        if isinstance(frame, TranscriptionFrame):
            self.turn.append(frame.text)
        if self.stopped is None:
            await self.start.process_frame(frame)
