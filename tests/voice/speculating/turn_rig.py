"""A call from turn taking to speech, driven frame by frame: what the VAD and the recogniser say is scripted.

The strategy, pipecat's aggregators and gate, the budgeted service and Piper are the real ones. The model behind them
repeats what it was asked, so that every sound says which words it answers.
"""

import asyncio
import contextlib
import random
import re
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.frames.frames import (
    AggregatedTextFrame,
    EagerEndOfTurnCancelFrame,
    EagerTranscriptionFrame,
    Frame,
    FunctionCallFromLLM,
    InputAudioRawFrame,
    InterruptionFrame,
    LLMContextFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    TranscriptionFrame,
    TTSAudioRawFrame,
    TTSTextFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import (
    LLMAssistantAggregator,
    LLMUserAggregator,
    LLMUserAggregatorParams,
    UserTurnMessageAddedMessage,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.llm_service import LLMService
from pipecat.turns.user_start import VADUserTurnStartStrategy
from pipecat.turns.user_turn_strategies import UserTurnStrategies
from pipecat.utils.types import NOT_GIVEN
from pipecat.workers.runner import WorkerRunner

from tests.voice.llm.answer import budgeted_rig as rig
from voice.frames import (
    CheckedTranscriptionFrame,
    EagerHintFrame,
    RequestsFrame,
    RevisedEagerTranscriptionFrame,
    RevisedTranscriptionFrame,
    SpeechResumedFrame,
    TurnEndFrame,
    VoiceFadedFrame,
)
from voice.llm.answer.conversation import last_user_text
from voice.llm.answer.service import BudgetedLLMService
from voice.llm.answer.spoken_service import SpeechRules
from voice.llm.joining import JoiningUserAggregator
from voice.llm.policy.make import make_policy
from voice.llm.policy.tier_statistics import TierStatistics
from voice.llm.tiers.tier import Tier
from voice.llm.tools import describe
from voice.second_pass import LONGEST_WAIT, WordCheck
from voice.tts.piper.service import PiperTTSService
from voice.tts.piper.voice import Voice
from voice.turns.barge_in.decision import Rules
from voice.turns.barge_in.turn_start import BargeInStart
from voice.turns.end_of_turn import EndOfTurn
from voice.turns.endpointing import Endpointing
from voice.turns.smart_turn import SmartTurnVerdict

FRAME = bytes(640)  # 20 ms of silence at 16 kHz
HEARD = "I heard "
TOOL = "the tool"
BOOK = "book"
"""A request that begins with this word is answered by a tool."""


class Parrot(LLMService[Any]):
    """Repeats what it is asked, in two sentences, after a while."""

    def __init__(self, rng: random.Random, wait: float) -> None:
        super().__init__()
        self._rng, self._wait = rng, wait
        self.asked: list[str] = []
        self.ending = "That is all there was."

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if not isinstance(frame, LLMContextFrame):
            await self.push_frame(frame, direction)
            return
        text = last_user_text(frame.context) or TOOL
        self.asked.append(text)
        await self.push_frame(LLMFullResponseStartFrame())
        await asyncio.sleep(self._rng.uniform(0, self._wait))
        if text.startswith(BOOK):
            call = FunctionCallFromLLM(
                function_name=BOOK, tool_call_id="1", arguments={"what": text}, context=frame.context
            )
            await self.run_function_calls([call])
        else:
            for piece in (f"{HEARD}{text}. ", *re.findall(r"\S+ ?", self.ending)):
                await self._push_llm_text(piece)
                await asyncio.sleep(self._rng.uniform(0, self._wait / 5))
        await self.push_frame(LLMFullResponseEndFrame())


class Ear(FrameProcessor):
    """What came out at the end, in order, with its instant.

    Args:
        confirmed: whether the user's turn with these words is over.
    """

    def __init__(self, confirmed: Callable[[str], bool]) -> None:
        super().__init__()
        self.heard: list[tuple[float, Frame]] = []
        self.breaches: list[str] = []
        """Words and sounds that answer what no turn was confirmed to be."""
        self._confirmed = confirmed
        self.answers: dict[str | None, str] = {}
        """What each utterance answers, by its TTS context."""

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if direction is FrameDirection.DOWNSTREAM:
            self.heard.append((time.monotonic(), frame))
            if isinstance(frame, AggregatedTextFrame) and frame.text.startswith(HEARD):
                self.answers.setdefault(frame.context_id, answered(frame.text))
            if isinstance(frame, TTSAudioRawFrame | TTSTextFrame | AggregatedTextFrame):
                words = self.answers.get(frame.context_id, TOOL)
                if words != TOOL and not self._confirmed(words):
                    self.breaches.append(f"{type(frame).__name__} for “{words}”")
        await self.push_frame(frame, direction)

    def of(self, *kinds: type[Frame]) -> list[Frame]:
        return [frame for _, frame in self.heard if isinstance(frame, kinds)]


class Judge:
    """Stands in for Smart Turn: says what it is told to, after a while."""

    def __init__(self) -> None:
        self.probability, self.wait = 0.99, 0.0
        self.asked = 0

    def hear(self, pcm: bytes, *, speaking: bool) -> None:
        pass

    async def judge(self) -> SmartTurnVerdict | None:
        self.asked += 1
        await asyncio.sleep(self.wait)
        return SmartTurnVerdict(self.probability, self.wait)

    def clear(self) -> None:
        pass

    def resume(self) -> None:
        pass


class Vad:
    """Stands in for Silero where the strategy looks at it."""

    may_be_starting = in_doubt = is_likely = False
    pause: float | None = None


class Mouth:
    """Stands in for the output where the start strategy tells it what to do."""

    saying = ""

    def __init__(self) -> None:
        self.told: list[str] = []

    def duck(self) -> None:
        self.told.append("duck")

    def silence(self) -> None:
        self.told.append("silence")

    def resume(self) -> None:
        self.told.append("resume")


@dataclass
class Call:
    """The running call; its methods are what the VAD and the recogniser say."""

    worker: PipelineWorker
    stop: EndOfTurn
    judge: Judge
    model: Parrot
    llm: BudgetedLLMService
    tts: PiperTTSService
    ear: Ear
    context: LLMContext
    booked: list[str] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    """What has been written into the conversation as the user's words, even if it was taken back."""
    mouth: Mouth = field(default_factory=Mouth)
    check: WordCheck = field(default_factory=WordCheck)
    dropped: list[str] = field(default_factory=list)
    """Why checks were dropped."""
    tempo: float = 1.0
    """Seconds that a second of audio takes; silence is counted in audio, so less is faster."""

    async def tell(self, *frames: Frame) -> None:
        for frame in frames:
            await self.worker.queue_frame(frame)
            await asyncio.sleep(0)

    async def audio(self, seconds: float) -> None:
        for _ in range(round(seconds / 0.02)):
            await self.tell(InputAudioRawFrame(FRAME, 16000, 1))
            await asyncio.sleep(0.02 * self.tempo)

    async def speaks(self, seconds: float = 4.0) -> None:
        """Speech begins and lasts, in no time."""
        audio = InputAudioRawFrame(FRAME * round(seconds / 0.02), 16000, 1)
        await self.tell(VADUserStartedSpeakingFrame(start_secs=0.2), audio)

    async def fades(self, *, lasting: bool = True) -> None:
        """The voice fades, and stays soft for longer than between most words."""
        await self.tell(VoiceFadedFrame(), *[VoiceFadedFrame(lasting=True)] * lasting)

    async def hint(self) -> None:
        await self.tell(EagerHintFrame(silence=0.096))

    async def eager(self, text: str, *, revised: bool = False) -> None:
        kind = RevisedEagerTranscriptionFrame if revised else EagerTranscriptionFrame
        await self.tell(kind(text, "user", ""))

    async def resumes(self) -> None:
        await self.tell(SpeechResumedFrame())

    async def stops(self) -> None:
        await self.tell(VADUserStoppedSpeakingFrame(stop_secs=0.2))

    async def final(self, text: str, *, revised: bool = False) -> None:
        kind = RevisedTranscriptionFrame if revised else TranscriptionFrame
        await self.tell(kind(text, "user", "", finalized=True))

    def begins_check(self, limit: float = LONGEST_WAIT) -> int:
        """The recogniser begins to check its words."""
        return self.check.begin(self.dropped.append, limit=limit)

    async def corrects(self, check: int, text: str) -> None:
        """The check has heard other words."""
        await self.tell(CheckedTranscriptionFrame(text, "user", "", finalized=True, check=check))

    async def until(self, what: Any, seconds: float = 20.0) -> None:
        """Wait for something to come true."""
        async with asyncio.timeout(seconds):
            while not what():
                await asyncio.sleep(0.002)

    @property
    def user_messages(self) -> list[str]:
        return [str(m["content"]) for m in self.context.get_messages() if m.get("role") == "user"]  # type: ignore[union-attr]

    @property
    def answered(self) -> list[str]:
        """The words whose answer was heard (their sounds came out), in order, each once."""
        sounds = [frame.context_id for frame in self.ear.of(TTSAudioRawFrame) if isinstance(frame, TTSAudioRawFrame)]
        return [self.ear.answers.get(context, TOOL) for context in dict.fromkeys(sounds)]

    @property
    def ends(self) -> list[TurnEndFrame]:
        return [frame for frame in self.ear.of(TurnEndFrame) if isinstance(frame, TurnEndFrame)]

    @property
    def records(self) -> list[RequestsFrame]:
        return [frame for frame in self.ear.of(RequestsFrame) if isinstance(frame, RequestsFrame)]

    @property
    def withdrawn(self) -> int:
        return len(self.ear.of(EagerEndOfTurnCancelFrame))

    @property
    def interruptions(self) -> int:
        return len(self.ear.of(InterruptionFrame))


@contextlib.asynccontextmanager
async def calling(
    voice: Voice,
    *,
    seed: int = 1,
    wait: float = 0.05,
    tools: bool = False,
    speculate: bool = True,
    early: float | None = None,
    rule: Endpointing | None = None,
    reads: Any = lambda _text: None,
    reader: Any = None,
    by_words: bool = False,
    strict: bool = False,
) -> AsyncIterator[Call]:
    """A call whose model needs up to `wait` seconds to its first word.

    With `by_words`, speech during an answer, and before it, is judged by its words. With `strict`, answers wait for
    checks without a limit.
    """
    check = WordCheck(is_strict=lambda: strict)
    booked: list[str] = []
    written: list[str] = []

    async def book(what: str) -> str:
        """Book something."""
        booked.append(what)
        return "done"

    model = Parrot(random.Random(seed), wait)
    judge = Judge()
    stop = EndOfTurn(
        vad=Vad(),  # type: ignore[arg-type]
        smart_turn=judge,  # type: ignore[arg-type]
        endpointing=rule or Endpointing(stop=0.2, fallback=0.8),
        speculate=speculate,
        early=early,
        reads=reads,
        reader=reader,
    )
    llm = rig.budgeted(
        [Tier("large", model)],
        make_policy("single", large="large", fast=None, bridge=False),
        book=TierStatistics({"large": 0.5}),
        rules=SpeechRules(prepares=True, is_wanted=stop.speculation.wants, check=check),
    )
    schemas = ToolsSchema(standard_tools=[describe(book)]) if tools else NOT_GIVEN
    context = LLMContext(tools=schemas)
    mouth = Mouth()
    by_its_words = BargeInStart(
        vad=Vad(),  # type: ignore[arg-type]
        voice=mouth,
        rules=Rules(decide=0.65, short=0.5, hold=2.0),
        far=0,
        set_aside=stop.set_aside,
        awaits_answer=lambda: stop.awaits_answer,
    )
    start = by_its_words if by_words else VADUserTurnStartStrategy(enable_interruptions=True)
    strategies = UserTurnStrategies(start=[start], stop=[stop])
    user = JoiningUserAggregator(context, params=LLMUserAggregatorParams(user_turn_strategies=strategies), check=check)
    assistant = LLMAssistantAggregator(context)

    def confirmed(words: str) -> bool:
        # A confirmed answer may be quicker than the note in the context.
        return words in written or words == stop.speculation.confirmed

    @user.event_handler("on_user_turn_message_corrected")  # type: ignore[untyped-decorator]
    async def corrected(_: LLMUserAggregator, message: UserTurnMessageAddedMessage) -> None:
        written.append(message.content)

    @user.event_handler("on_user_turn_message_added")  # type: ignore[untyped-decorator]
    async def added(_: LLMUserAggregator, message: UserTurnMessageAddedMessage) -> None:
        written.append(message.content)

    tts, ear = PiperTTSService(voice), Ear(confirmed)
    worker = PipelineWorker(
        Pipeline([user, llm, tts, ear, assistant]),
        params=PipelineParams(audio_in_sample_rate=16000, audio_out_sample_rate=voice.sample_rate),
        idle_timeout_secs=None,
        enable_rtvi=False,
        enable_turn_tracking=False,
    )
    started = asyncio.Event()

    @worker.event_handler("on_pipeline_started")  # type: ignore[untyped-decorator]
    async def begin(_: PipelineWorker, frame: Frame) -> None:
        started.set()

    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    running = asyncio.create_task(runner.run())
    try:
        async with asyncio.timeout(60):
            await started.wait()
        yield Call(worker, stop, judge, model, llm, tts, ear, context, booked, written, mouth, check)
    finally:
        await worker.cancel()
        await running


async def said(call: Call, text: str) -> None:
    """A usual turn: the hint, the words so far, the stop and the same words."""
    await call.speaks()
    await call.audio(0.1)
    await call.hint()
    await call.eager(text)
    await call.audio(0.1)
    await call.stops()
    await call.final(text)


def answered(text: str) -> str:
    """The words that a sentence of the model's repeats."""
    return text.removeprefix(HEARD).strip().rstrip(".")


def texts(rng: random.Random, count: int) -> Sequence[str]:
    """What a user says piece by piece; no two calls of a run say the same."""
    return [f"word {rng.randrange(10**6)} indeed" for _ in range(count)]
