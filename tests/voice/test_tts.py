"""The embedded voice speaks, at a steady level and without a silent start; bad voices are refused.

Hold phrases come from what was synthesised before the call, apart from the answer they precede.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pytest
from pipecat.frames.frames import (
    AggregatedTextFrame,
    Frame,
    InterruptionFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
    OutputAudioRawFrame,
    StartFrame,
    TTSAudioRawFrame,
    TTSSpeakFrame,
    TTSStartedFrame,
    TTSStoppedFrame,
    TTSTextFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMAssistantAggregator
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.tests.utils import run_test
from pipecat.transports.base_output import BaseOutputTransport
from pipecat.transports.base_transport import TransportParams
from pipecat.workers.runner import WorkerRunner

from voice.errors import ConfigurationError
from voice.llm.frames import HOLD_PHRASE, HoldPhraseFrame
from voice.tts.piper import PiperTTSService
from voice.tts.pieces import Piece, onset, samples_of
from voice.tts.voice import LEAD_FIRST, LEAD_LATER, Voice, embedded_voice

PHRASE = "One moment."
ANSWER = ["It is ", "ten past four. ", "Anything else?"]


@pytest.fixture(scope="module")
def voice() -> Voice:
    return Voice(embedded_voice())


@pytest.mark.parametrize("text", ["It is 4:10 in the afternoon.", "Hello there.", "7 times 8 is 56."])
def test_speech_starts_at_the_lead_asked_for(voice: Voice, text: str) -> None:
    samples = voice.synthesize(text, lead=0.05)
    assert samples.dtype == np.int16
    assert silence_before(samples, voice.sample_rate) == pytest.approx(0.05, abs=0.005)


def test_noise_before_a_soft_start_is_silence_too(voice: Voice) -> None:
    # The voice hums for 200 ms at -55 dB before this sentence, with single samples above the threshold.
    samples = voice.synthesize("There are 3600 seconds in an hour.", lead=0.0) / 32768
    assert np.sqrt((samples[: voice.sample_rate // 50] ** 2).mean()) > 0.005


def test_a_soft_sentence_is_not_scaled_to_full_range(voice: Voice) -> None:
    peaks = [int(np.abs(voice.synthesize(text)).max()) for text in ("Hello there.", "It is ten past four.")]
    assert max(peaks) < 32000


def test_nothing_to_say_is_no_audio(voice: Voice) -> None:
    assert len(voice.synthesize("...")) == 0


def test_a_missing_voice_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="does not exist"):
        Voice(tmp_path / "nobody.onnx")


def test_a_file_that_is_no_voice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.onnx").write_bytes(b"not a model")
    (tmp_path / "x.onnx.json").write_text("{}")
    with pytest.raises(ConfigurationError, match="is not a Piper voice"):
        Voice(tmp_path / "x.onnx")


async def test_an_answer_is_spoken_clause_by_clause_in_order(voice: Voice) -> None:
    words = ["Once ", "upon ", "a ", "time, ", "there ", "was ", "a ", "bell. ", "It ", "rang."]
    down, _ = await run_test(
        PiperTTSService(voice),
        frames_to_send=[LLMFullResponseStartFrame(), *map(LLMTextFrame, words), LLMFullResponseEndFrame()],
        start_timeout=30,
        pipeline_params=PipelineParams(audio_out_sample_rate=voice.sample_rate),
    )
    spoken = [frame.text for frame in down if isinstance(frame, TTSTextFrame)]
    assert spoken == "Once upon a time, there was a bell. It rang.".split()
    audio = [frame for frame in down if isinstance(frame, TTSAudioRawFrame)]
    assert {frame.sample_rate for frame in audio} == {voice.sample_rate}
    seconds = sum(len(frame.audio) for frame in audio) / 2 / voice.sample_rate
    assert 1.5 < seconds < 6


class GatedVoice(Voice):
    """The embedded voice, which counts what it synthesises and waits while its gate is closed."""

    def __init__(self) -> None:
        super().__init__(embedded_voice())
        self.asked: list[str] = []
        self.gate = threading.Event()
        self.gate.set()

    def pieces(self, text: str, *, lead: float = LEAD_LATER) -> Iterator[list[Piece]]:
        self.asked.append(text)
        assert self.gate.wait(30)
        yield from super().pieces(text, lead=lead)


@pytest.fixture
def gated() -> Iterator[GatedVoice]:
    voice = GatedVoice()
    yield voice
    voice.gate.set()
    voice.close()


class Loudspeaker(BaseOutputTransport):
    """Plays in real time."""

    def __init__(self, sample_rate: int) -> None:
        super().__init__(
            TransportParams(audio_out_enabled=True, audio_out_sample_rate=sample_rate, audio_out_end_silence_secs=0)
        )
        self.played = 0
        """Samples."""

    async def start(self, frame: StartFrame) -> None:
        await super().start(frame)
        await self.set_transport_ready(frame)

    async def write_audio_frame(self, frame: OutputAudioRawFrame) -> bool:
        self.played += frame.num_frames
        await asyncio.sleep(frame.num_frames / frame.sample_rate)
        return True


class Tap(FrameProcessor):
    """Keeps what passes; `until` waits for a kind of frame."""

    def __init__(self) -> None:
        super().__init__()
        self.frames: list[Frame] = []
        self._news = asyncio.Event()

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if direction is FrameDirection.DOWNSTREAM:
            self.frames.append(frame)
            self._news.set()
        await self.push_frame(frame, direction)

    async def until(self, kind: type[Frame], count: int = 1) -> None:
        async with asyncio.timeout(30):
            while len(self.of(kind)) < count:
                self._news.clear()
                await self._news.wait()

    def of(self, kind: type[Frame]) -> list[Frame]:
        return [frame for frame in self.frames if isinstance(frame, kind)]


class Call:
    """TTS, loudspeaker and the assistant's side of a context, as in a call's pipeline."""

    def __init__(self, voice: Voice) -> None:
        self.context = LLMContext()
        self.tts = PiperTTSService(voice)
        self.spoken, self.out = Tap(), Tap()
        self.loudspeaker = Loudspeaker(voice.sample_rate)
        self.worker = PipelineWorker(
            Pipeline([self.tts, self.spoken, self.loudspeaker, self.out, LLMAssistantAggregator(self.context)]),
            params=PipelineParams(audio_out_sample_rate=voice.sample_rate),
            cancel_on_idle_timeout=False,
        )

    async def say(self, *frames: Frame) -> None:
        for frame in frames:
            await self.worker.queue_frame(frame)

    async def answer(self) -> None:
        await self.say(LLMFullResponseStartFrame(), *map(LLMTextFrame, ANSWER), LLMFullResponseEndFrame())


@asynccontextmanager
async def calling(voice: Voice) -> AsyncIterator[Call]:
    call = Call(voice)
    started = asyncio.Event()

    @call.worker.event_handler("on_pipeline_started")
    async def on_started(worker: PipelineWorker, frame: StartFrame) -> None:
        started.set()

    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(call.worker)
    running = asyncio.create_task(runner.run())
    try:
        async with asyncio.timeout(30):
            await started.wait()
        yield call
        await call.worker.stop_when_done()
        async with asyncio.timeout(30):
            await running
    finally:
        await call.worker.cancel()
        await running


def audio_of(frames: list[Frame], context: str | None) -> np.ndarray:
    sound = b"".join(f.audio for f in frames if isinstance(f, TTSAudioRawFrame) and f.context_id == context)
    return np.frombuffer(sound, np.int16)


def phrase_samples(voice: Voice) -> np.ndarray:
    prepared = voice.prepared(PHRASE)
    assert prepared is not None
    return samples_of(prepared)


def silence_before(samples: np.ndarray, rate: int) -> float:
    start = onset(samples / np.float32(32768), rate)
    assert start is not None
    return start / rate


async def test_phrases_are_synthesised_once_for_all_calls(gated: GatedVoice) -> None:
    await gated.prepare([PHRASE, "Let me think.", PHRASE])
    await gated.prepare([f" {PHRASE} "])
    assert gated.asked == [PHRASE, "Let me think."]
    for _ in range(2):
        async with calling(gated) as call:
            await call.say(HoldPhraseFrame(PHRASE))
            await call.out.until(TTSStoppedFrame)
    assert gated.asked == [PHRASE, "Let me think."]


async def test_a_phrase_that_cannot_be_spoken_is_refused(voice: Voice) -> None:
    with pytest.raises(ConfigurationError, match="nothing that can be spoken"):
        await voice.prepare(["..."])


async def test_preparing_leaves_the_event_loop_free(gated: GatedVoice) -> None:
    gated.gate.clear()
    preparing = asyncio.create_task(gated.prepare([PHRASE]))
    await asyncio.sleep(0.05)
    assert gated.asked == [PHRASE]
    assert not preparing.done()
    gated.gate.set()
    await preparing


async def test_a_hold_phrase_is_heard_while_the_synthesiser_is_busy(gated: GatedVoice) -> None:
    await gated.prepare([PHRASE])
    gated.gate.clear()
    busy = asyncio.create_task(gated.speak("A clause of another call."))
    async with calling(gated) as call:
        await call.say(HoldPhraseFrame(PHRASE))
        await call.out.until(TTSStoppedFrame)
        assert not busy.done()
        assert call.loudspeaker.played / gated.sample_rate > 0.5
        gated.gate.set()
        await busy


async def test_a_hold_phrase_and_the_answer_come_in_order_and_apart(gated: GatedVoice) -> None:
    await gated.prepare([PHRASE])
    async with calling(gated) as call:
        await call.say(HoldPhraseFrame(PHRASE))
        await call.answer()
        await call.out.until(LLMFullResponseEndFrame)
    frames = call.spoken.frames
    announced = [(f.text, f.text_type) for f in frames if type(f) is AggregatedTextFrame]
    assert announced == [(PHRASE, HOLD_PHRASE), ("It is ten past four.", "sentence"), ("Anything else?", "sentence")]
    of_phrase, of_answer = [frame.context_id for frame in frames if isinstance(frame, TTSStartedFrame)]
    assert of_phrase != of_answer
    contexts = [frame.context_id for frame in frames if isinstance(frame, TTSAudioRawFrame | TTSTextFrame)]
    assert contexts == sorted(contexts, key=[of_phrase, of_answer].index)
    assert set(contexts) == {of_phrase, of_answer}
    kinds = [type(frame) for frame in frames]
    assert kinds.index(TTSStoppedFrame) < kinds.index(LLMFullResponseStartFrame)
    heard = [f.text for f in call.out.frames if isinstance(f, TTSTextFrame)]
    assert heard == [*PHRASE.split(), *"".join(ANSWER).split()]
    assert np.array_equal(audio_of(frames, of_phrase), phrase_samples(gated))
    assert call.loudspeaker.played >= len(audio_of(frames, of_answer))


async def test_a_hold_phrase_never_reaches_the_language_model(gated: GatedVoice) -> None:
    await gated.prepare([PHRASE])
    async with calling(gated) as call:
        await call.say(HoldPhraseFrame(PHRASE))
        await call.answer()
        await call.out.until(LLMFullResponseEndFrame)
    assert call.context.get_messages() == [{"role": "assistant", "content": "It is ten past four. Anything else?"}]


@pytest.mark.parametrize("inside", [False, True], ids=["before the answer", "inside the answer"])
async def test_after_a_hold_phrase_the_answer_has_its_own_lead_in(gated: GatedVoice, inside: bool) -> None:
    await gated.prepare([PHRASE])
    async with calling(gated) as call:
        if inside:
            await call.say(LLMFullResponseStartFrame(), HoldPhraseFrame(PHRASE))
        else:
            await call.say(HoldPhraseFrame(PHRASE), LLMFullResponseStartFrame())
        await call.say(*map(LLMTextFrame, ANSWER), LLMFullResponseEndFrame())
        await call.out.until(LLMFullResponseEndFrame)
    rate = gated.sample_rate
    of_phrase, of_answer = [f.context_id for f in call.spoken.frames if isinstance(f, TTSStartedFrame)]
    for context in (of_phrase, of_answer):
        assert silence_before(audio_of(call.spoken.frames, context), rate) == pytest.approx(LEAD_FIRST, abs=0.005)
    assert gated.asked == [PHRASE, "It is ten past four.", "Anything else?"]


async def test_a_phrase_that_an_answer_says_later_keeps_the_pause_between_clauses(gated: GatedVoice) -> None:
    await gated.prepare([PHRASE])
    async with calling(gated) as call:
        await call.say(
            LLMFullResponseStartFrame(), LLMTextFrame(f"All right then. {PHRASE}"), LLMFullResponseEndFrame()
        )
        await call.out.until(LLMFullResponseEndFrame)
    assert gated.asked == [PHRASE, "All right then.", PHRASE]


async def test_an_interruption_during_a_hold_phrase_leaves_nothing_of_it(gated: GatedVoice) -> None:
    await gated.prepare([PHRASE])
    async with calling(gated) as call:
        await call.say(HoldPhraseFrame(PHRASE))
        await call.out.until(TTSStartedFrame)
        await call.say(InterruptionFrame())
        await call.out.until(InterruptionFrame)
        cut = call.loudspeaker.played
        assert cut < len(phrase_samples(gated))
        assert call.tts.get_audio_contexts() == []
        await asyncio.sleep(0.3)
        assert call.loudspeaker.played - cut <= gated.sample_rate // 10
        await call.answer()
        await call.out.until(LLMFullResponseEndFrame)
    after = call.out.frames[[type(frame) for frame in call.out.frames].index(InterruptionFrame) :]
    assert [f.text for f in after if isinstance(f, TTSTextFrame)] == "".join(ANSWER).split()
    of_answer = [frame.context_id for frame in call.spoken.frames if isinstance(frame, TTSStartedFrame)][-1]
    spoken = audio_of(call.spoken.frames, of_answer)
    assert silence_before(spoken, gated.sample_rate) == pytest.approx(LEAD_FIRST, abs=0.005)
    assert call.context.get_messages() == [{"role": "assistant", "content": "It is ten past four. Anything else?"}]


async def test_speech_that_was_not_prepared_is_synthesised(gated: GatedVoice) -> None:
    async with calling(gated) as call:
        await call.say(TTSSpeakFrame("Your tea is ready."))
        await call.out.until(TTSStoppedFrame)
    assert gated.asked == ["Your tea is ready."]
