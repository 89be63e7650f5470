"""Each part of a real call is hung in turn: the caller hears why, or the call ends with the reason, and both are noted.

Real sockets, the embedded engines; one part of each call does not return what the next one waits for.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from pipecat.frames.frames import Frame, InputAudioRawFrame, TranscriptionFrame, VADUserStoppedSpeakingFrame
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.audio.vad_processor import VADProcessor
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.settings import STTSettings
from pipecat.services.stt_service import STTService
from pipecat.utils.time import time_now_iso8601

from latency.record.turn import ServerTurn, TurnRecord
from pipelines import Agent
from pipelines.replaying.call_records import turn_records
from pipelines.serving.address import Address
from pipelines.serving.serve import serve_agent
from voice.asr.sphinx.messages import Final
from voice.asr.sphinx.service import SphinxSTTService
from voice.client.call.call_result import CallResult
from voice.client.call.line import PacedLine
from voice.client.call.listener import CallListener
from voice.client.call.session import CallSession
from voice.client.caller.scripted_caller import ScriptedCaller
from voice.client.fixtures.fixture import Fixture, load_fixtures
from voice.client.playback.playout import Playout
from voice.client.sound.pcm import Pcm
from voice.language.english.phrases import ENGLISH
from voice.llm.joining import JoiningUserAggregator
from voice.responder.service import ResponderLLMService
from voice.server.admission import Headroom
from voice.server.calls import BuiltCall
from voice.server.output import HeadStartOutput
from voice.server.transport import Caller
from voice.tts.piper.service import PiperTTSService
from voice.tts.piper.voice import Voice, embedded_voice

QUESTION = "What is my order status?"
OTHER = Path(__file__).resolve().parents[3] / "samples" / "commands" / "02.wav"
PHRASES = frozenset(
    [
        ENGLISH.say_again,
        ENGLISH.cannot_hear,
        *ENGLISH.delay,
        ENGLISH.not_answering,
        *ENGLISH.progress,
        ENGLISH.unfinished,
        ENGLISH.went_wrong,
    ]
)
WAIT = 30.0
"""Seconds that a caller waits for the reason; the watchdog of these calls waits for 2 and 4."""
ENDS_WITHIN = 12.0
"""Seconds; pipecat waits twice for a part that hangs before it is taken apart, 3 s each."""
AT_ONCE = 5
"""Calls at once: more would make two cores slow enough for parts to look hung."""


async def never(*_: object, **__: object) -> Any:
    """Does not return."""
    await asyncio.Event().wait()


async def nothing(*_: object, **__: object) -> None:
    """Returns, and has done nothing."""


async def order_status() -> str:
    """Does not return; the responder calls it when it hears its name."""
    await asyncio.Event().wait()
    return "unreachable"


def without_text(service: SphinxSTTService) -> None:
    """The recogniser gives partial text, but no final one, and does not notice that its process has hung."""
    answer = service._answer

    async def partial_only(reply: Any) -> None:
        if not isinstance(reply, Final):
            await answer(reply)

    service._answer = partial_only  # type: ignore[method-assign]
    service._give_up = lambda _: None  # type: ignore[method-assign]


def blocking(service: SphinxSTTService) -> None:
    """The recogniser keeps the audio that it is given from the third second on."""
    hear, heard = service.run_stt, 0

    async def keep(audio: bytes) -> AsyncIterator[Any]:
        nonlocal heard
        heard += len(audio)
        if heard > 3 * 2 * 16000:
            await never()
        async for frame in hear(audio):
            yield frame

    service.run_stt = keep  # type: ignore[method-assign, assignment]


def deaf(processor: VADProcessor) -> None:
    """The voice detector keeps the first message of audio that it is given."""
    process = processor._vad_controller.process_frame

    async def keep(frame: Frame) -> None:
        await (never() if isinstance(frame, InputAudioRawFrame) else process(frame))

    processor._vad_controller.process_frame = keep  # type: ignore[method-assign]


def undecided(user: JoiningUserAggregator) -> None:
    """Turn taking never finds that the turn is over."""
    (stop,) = user._params.user_turn_strategies.stop  # type: ignore[union-attr]
    stop._consider = nothing  # type: ignore[union-attr]


def silent_but_for_phrases(service: PiperTTSService) -> None:
    """Synthesis never makes a sound, but plays what was prepared before the call."""
    pieces = service._pieces

    def either(text: str, *, first: bool) -> Any:
        prepared = service._piper.prepared(text) is not None
        return pieces(text, first=first) if prepared else no_pieces()

    service._pieces = either  # type: ignore[method-assign]


async def no_pieces(*_: object, **__: object) -> AsyncIterator[Any]:
    await never()
    yield None


@dataclass(frozen=True)
class Case:
    """A part that is hung.

    Parameters:
        part: as the record names it.
        at: the class of the processor.
        how: hangs an instance of it.
        said: what the caller is told, in order.
        closed: what the reason contains with which the call is closed; empty when it goes on.
        asks: whether the caller asks for what the tool knows.
        heard: how many utterances are heard at least; where the messages of a call are blocked with its audio, the
            client is not told their text.
    """

    part: str
    at: type[Any]
    how: Callable[[Any], None]
    said: Sequence[str] = ()
    closed: str = ""
    heard: int = 0
    asks: bool = False


def put(name: str, what: Any) -> Callable[[Any], None]:
    return lambda processor: setattr(processor, name, what)


CASES = {
    "recogniser gives no text": Case("recogniser", SphinxSTTService, without_text, [ENGLISH.say_again]),
    "recogniser blocks": Case(
        "recogniser", SphinxSTTService, blocking, [], "the recogniser (SphinxSTTService", heard=1
    ),
    "end of turn is not decided": Case("turn taking", JoiningUserAggregator, undecided, [ENGLISH.say_again]),
    "model gives no text": Case(
        "language model", ResponderLLMService, put("_respond", never), [ENGLISH.delay[1], ENGLISH.not_answering]
    ),
    "tool does not return": Case(
        "tool", ResponderLLMService, lambda _: None, [ENGLISH.progress[0], ENGLISH.unfinished], asks=True
    ),
    "synthesis makes no sound": Case("synthesis", PiperTTSService, silent_but_for_phrases, [ENGLISH.went_wrong]),
    "synthesis is dead": Case(
        "synthesis", PiperTTSService, put("_pieces", no_pieces), [], "speech synthesis made no audio"
    ),
    "writer blocks": Case("transport", HeadStartOutput, put("_send", never), [], "the transport sent no audio for 2 s"),
    "voice detector blocks": Case(
        "voice detector", VADProcessor, deaf, [], "the voice detector", heard=1
    ),
}  # fmt: skip


def parts(whole: FrameProcessor) -> list[FrameProcessor]:
    return [part for one in whole.processors for part in (one, *parts(one))]


class ScriptedRecogniser(STTService):
    """Hears what the caller is known to say, in no time: a real one on a busy machine may look hung."""

    def __init__(self, text: str) -> None:
        super().__init__(settings=STTSettings(model="scripted:", language=None), ttfs_p99_latency=0.4)
        self._text = text

    async def run_stt(self, audio: bytes) -> AsyncGenerator[Frame | None, None]:
        yield None

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, VADUserStoppedSpeakingFrame):
            await self.push_frame(TranscriptionFrame(self._text, "", time_now_iso8601(), finalized=True))


class HangingAgent(Agent):
    """An agent of the embedded pipeline; in each call a part hangs."""

    hang: Case
    worker: PipelineWorker

    def build_call(self, caller: Caller) -> BuiltCall:
        assert self.engines is not None
        with pytest.MonkeyPatch.context() as patch:
            if self.hang.at is not SphinxSTTService:
                words = QUESTION if self.hang.asks else "set a timer for ten minutes"
                patch.setattr(self.engines.recogniser, "service", lambda **_: ScriptedRecogniser(words))
            call = super().build_call(caller)
        self.worker = call.worker
        (part,) = [one for one in parts(call.worker.pipeline) if isinstance(one, self.hang.at)]
        self.hang.how(part)
        return call


class Told(CallListener):
    """What the caller is told; `ready` and `hung` are set by the call."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.ready, self.hung = asyncio.Event(), asyncio.Event()

    def on_ready(self) -> None:
        self.ready.set()

    def on_said(self, text: str) -> None:
        self.said.append(text)

    def on_turn(self, turn: ServerTurn) -> None:
        if turn.hung:
            self.hung.set()


class PatientCaller(ScriptedCaller):
    """Hangs up when everything that is expected has begun to be heard."""

    def __init__(self, fixture: Fixture, case: Case, told: Told) -> None:
        super().__init__(fixture.turns, reply_wait=WAIT, hang_up_after=WAIT)
        self._case, self._told = case, told

    def next_frame(self, at: float, playout: Playout) -> Pcm | None:
        told = bool(self._case.said) and self._case.said[-1] in self._told.said
        return None if told and playout.is_audible else super().next_frame(at, playout)


@dataclass(frozen=True)
class Outcome:
    """A call in which something hung."""

    told: Told
    result: CallResult
    records: list[TurnRecord]
    ended: bool
    """Whether the server's side of it ended soon, too."""


async def one_call(agent: HangingAgent, url: str, case: Case, fixture: Fixture, building: asyncio.Lock) -> Outcome:
    """Call until the reason has been heard, or the call has been closed."""
    told = Told()
    line = PacedLine(PatientCaller(fixture, case, told))
    session = CallSession(url, line, listener=told)
    async with building:
        agent.hang = case
        calling = asyncio.create_task(session.run())
        ready = asyncio.create_task(told.ready.wait())
        await asyncio.wait([calling, ready], return_when=asyncio.FIRST_COMPLETED)
        ready.cancel()
        worker = agent.worker
    await calling
    ended = await eventually(worker.has_finished)
    return Outcome(told, session.result(), turn_records(session.result(), fixture, "call"), ended)


async def eventually(holds: Callable[[], bool]) -> bool:
    for _ in range(round(ENDS_WITHIN / 0.05)):
        if holds():
            return True
        await asyncio.sleep(0.05)
    return False


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """All calls, a few at a time, on one server."""
    path = tmp_path_factory.mktemp("hangs") / "01.wav"
    voice = Voice(embedded_voice())
    quiet = np.zeros(voice.sample_rate // 2, np.int16)
    soundfile.write(path, np.concatenate([quiet, voice.synthesize(QUESTION), quiet]), voice.sample_rate)
    voice.close()
    question, other = load_fixtures([str(path), str(OTHER)])

    async def all_calls() -> dict[str, Outcome]:
        limits = ["watchdog.silence_ms=2000", "watchdog.give_up_ms=3000"]
        agent = HangingAgent(pipeline="embedded", overrides=limits, tools=[order_status])
        listening: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        serving = asyncio.create_task(
            serve_agent(agent, Address(port=0), announce=lambda line: listening.set_result(line.split()[-1]))
        )
        building, room = asyncio.Lock(), asyncio.Semaphore(AT_ONCE)
        found = {}

        async def call(name: str) -> None:
            async with room:
                found[name] = await one_call(agent, url, CASES[name], question if CASES[name].asks else other, building)

        url = await listening
        try:
            await asyncio.gather(*(call(name) for name in CASES))
        finally:
            serving.cancel()
            with suppress(asyncio.CancelledError):
                await serving
        return found

    with pytest.MonkeyPatch.context() as patch:
        # A busy machine is no reason to take fewer calls here.
        patch.setattr(Headroom, "refusal", lambda *_, **__: None)
        return asyncio.run(all_calls())


@pytest.mark.parametrize("name", CASES)
def test_the_caller_learns_what_hangs(outcomes: dict[str, Outcome], name: str) -> None:
    case, outcome = CASES[name], outcomes[name]
    print(outcome.told.said, outcome.result.closed, [turn.hung for turn in outcome.records])
    assert [text for text in outcome.told.said if text in PHRASES] == list(case.said)
    assert len(outcome.result.utterances) >= max(len(case.said), case.heard)
    assert case.closed in (outcome.result.closed or "")
    assert (outcome.result.closed is not None) == bool(case.closed)
    assert outcome.ended


@pytest.mark.parametrize("name", CASES)
def test_the_record_names_it(outcomes: dict[str, Outcome], name: str) -> None:
    case, (record,) = CASES[name], outcomes[name].records
    assert record.failed is not None
    if record.hung is None:
        assert case.at is HeadStartOutput, "a transport that sends nothing sends no report either"
        assert case.closed in record.failed
    else:
        assert record.hung.part == case.part
        assert record.hung.ended_call == bool(case.closed)
        assert record.hung.seconds is not None
        assert record.hung.seconds >= 2
