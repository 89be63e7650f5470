"""The rule on recorded silences ends turns when the agent's own turn taking does, message by message."""

import asyncio

import pytest
from pipecat.audio.vad.vad_analyzer import VADParams
from pipecat.frames.frames import Frame, TranscriptionFrame, VADUserStartedSpeakingFrame, VADUserStoppedSpeakingFrame
from pipecat.utils.asyncio.task_manager import TaskManager

from pipelines.lab.curve.listening import Detector, with_silence
from pipelines.lab.curve.recorded import STEP, Clip
from pipelines.lab.curve.rules import calls, judge_call, our_rule
from tests.pipelines.lab.curve.rig import models, recorded, sample
from voice.client.fixtures.fixture import FixtureTurn
from voice.client.sound.pcm import MESSAGE_SAMPLES, RATE
from voice.turns.end_of_turn import EndOfTurn
from voice.turns.endpointing import Endpointing, Pauses
from voice.turns.words.trigram_reader import TrigramReader


class LiveTurns:
    """The agent's turn taking, fed message by message; recognises each stretch of speech as soon as it stops."""

    def __init__(self, clip: Clip, rule: Endpointing, pauses: Pauses) -> None:
        self._clip = clip
        self._vad = models().vad(VADParams(confidence=0.7, start_secs=0.2, stop_secs=0.2, min_volume=0.4))
        self._vad.set_sample_rate(RATE)
        self._detector = Detector(self._vad, 0.064)
        self._stop = EndOfTurn(
            vad=self._vad,
            smart_turn=models().smart_turn(start_secs=0.2),
            endpointing=rule,
            reads=TrigramReader.shared().log_probability,
        )
        self._stop.turn.pauses = pauses
        self._ended = False
        self._said = ""

    async def first_end(self, turn: FixtureTurn) -> float | None:
        """When the first turn ends, in seconds of the recording."""
        self._tasks = self._stop._task_manager = TaskManager()

        @self._stop.event_handler("on_user_turn_stopped")
        async def ended(*_: object) -> None:
            self._ended = True
            await self._stop.handle_user_turn_stopped()

        samples = with_silence(turn)
        for first in range(0, len(samples) - MESSAGE_SAMPLES + 1, MESSAGE_SAMPLES):
            for frame in await self._detector.hear(samples[first : first + MESSAGE_SAMPLES].tobytes()):
                await self._take(frame, (first + MESSAGE_SAMPLES) / RATE)
            if self._ended:
                return (first + MESSAGE_SAMPLES) / RATE
        return None

    async def _take(self, frame: Frame, at: float) -> None:
        if isinstance(frame, VADUserStartedSpeakingFrame) and not self._stop.turn.is_open:
            await self._stop.handle_user_turn_started()
        await self._stop.process_frame(frame)
        for task in self._tasks.current_tasks():
            await asyncio.wait([task])
        if isinstance(frame, VADUserStoppedSpeakingFrame):
            said = next(one.text for one in self._clip.silences if one.stopped == pytest.approx(at, abs=1e-3))
            await self._stop.process_frame(
                TranscriptionFrame(said.removeprefix(self._said).strip(), "user", "", finalized=True)
            )
            self._said = said


def first_end(clip: Clip, rule: Endpointing) -> float | None:
    """When the recorded silences say that the turn is first over."""
    needed, pauses = our_rule(rule), Pauses()
    for silence in clip.silences:
        if silence.stopped is not None:
            if (at := silence.reached(needed(silence, pauses))) is not None:
                return at
            pauses.add(silence.counted)
    return None


@pytest.mark.parametrize("risk", [0.0005, 0.0125, 0.3])
@pytest.mark.parametrize(("folder", "turn"), [("pauses", 1), ("pauses", 7), ("tour", 3), ("noise_10db", 0)])
def test_a_turn_ends_live_when_the_recorded_silences_say(folder: str, turn: int, risk: float) -> None:
    rule = Endpointing(stop=0.2, fallback=0.7, risk=risk)
    (clip,) = recorded(folder, turn).clips
    live = asyncio.run(LiveTurns(clip, rule, Pauses()).first_end(sample(folder, turn).turns[0]))
    offline = first_end(clip, rule)
    assert offline is not None
    assert live == pytest.approx(offline, abs=STEP + 1e-6)


def test_a_caller_s_earlier_pauses_count_offline_as_they_do_live() -> None:
    turns = (1, 3, 4)
    rule = Endpointing(stop=0.2, fallback=2.5, risk=1e-6)
    clips, fixture = recorded("pauses", *turns).clips, sample("pauses", *turns)
    (order,) = calls(clips, seed=1)
    offline = list(judge_call([clips[index] for index in order], our_rule(rule)))
    pauses = Pauses()
    for index, outcome in zip(order, offline, strict=True):
        assert not outcome.cut
        live = asyncio.run(LiveTurns(clips[index], rule, pauses).first_end(fixture.turns[index]))
        assert live is not None
        assert outcome.delay == pytest.approx(live - clips[index].end, abs=STEP + 1e-6)
    assert pauses.turns == len(turns)
