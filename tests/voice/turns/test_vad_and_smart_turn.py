"""Speech, hints at its end and whole turns, on the real Silero and Smart Turn with recorded sound."""

import asyncio
from collections.abc import Callable

import pytest
from pipecat.audio.vad.vad_analyzer import VADParams, VADState
from pipecat.frames.frames import (
    Frame,
    InputAudioRawFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.tests.utils import run_test

from voice.turns.models import SharedSilero, SmartTurn, TurnModels
from voice.turns.turn_frames import EagerHintFrame, SpeechResumedFrame
from voice.turns.vad_processor import HintingVADProcessor

RATE = 16000
CHUNK = RATE // 50
SILENCE = bytes(2 * CHUNK)
NOTABLE = (VADUserStartedSpeakingFrame, VADUserStoppedSpeakingFrame, EagerHintFrame, SpeechResumedFrame)


@pytest.fixture(scope="module")
def models() -> TurnModels:
    return TurnModels(smart_turn=True)


def detector(models: TurnModels) -> SharedSilero:
    vad = models.vad(VADParams(min_volume=0.4))
    vad.set_sample_rate(RATE)
    return vad


def chunks(sound: bytes) -> list[bytes]:
    return [sound[start : start + 2 * CHUNK] for start in range(0, len(sound), 2 * CHUNK)]


async def heard(models: TurnModels, sound: bytes, *, hint: float | None) -> list[Frame]:
    """What the processor tells of a sound."""
    frames = [InputAudioRawFrame(chunk, RATE, 1) for chunk in chunks(sound)]
    down, _ = await run_test(
        HintingVADProcessor(vad=models.vad(VADParams(min_volume=0.4)), hint=hint),
        frames_to_send=frames,
        expected_down_frames=None,
    )
    return [frame for frame in down if isinstance(frame, NOTABLE)]


async def test_speech_is_found_and_its_end_too(models: TurnModels, speak: Callable[[str], bytes]) -> None:
    vad = detector(models)
    states = [await vad.analyze_audio(chunk) for chunk in chunks(speak("what time is it") + SILENCE * 50)]
    assert VADState.SPEAKING in states
    assert states[-1] is VADState.QUIET
    await vad.cleanup()


async def test_two_calls_do_not_share_what_they_have_heard(models: TurnModels, speak: Callable[[str], bytes]) -> None:
    one, other = detector(models), detector(models)
    await one.analyze_audio(speak("what time is it")[: RATE * 2])
    assert await other.analyze_audio(SILENCE * 10) is VADState.QUIET
    await asyncio.gather(one.cleanup(), other.cleanup())


async def test_a_hint_comes_before_the_stop(models: TurnModels, speak: Callable[[str], bytes]) -> None:
    told = await heard(models, speak("what time is it") + SILENCE * 50, hint=0.096)
    kinds = [type(frame) for frame in told]
    assert kinds[0] is VADUserStartedSpeakingFrame
    assert kinds[-2:] == [EagerHintFrame, VADUserStoppedSpeakingFrame]
    last = told[-2]
    assert isinstance(last, EagerHintFrame)
    assert last.silence == pytest.approx(0.096)


async def test_a_hint_that_was_wrong_is_withdrawn(models: TurnModels, speak: Callable[[str], bytes]) -> None:
    speech = speak("what time is it")
    middle = len(speech) // 4 * 2
    told = await heard(models, speech[:middle] + SILENCE * 7 + speech[middle:] + SILENCE * 50, hint=0.096)
    kinds = [type(frame) for frame in told]
    resumed = kinds.index(SpeechResumedFrame)
    assert kinds[resumed - 1] is EagerHintFrame
    assert kinds.count(EagerHintFrame) == kinds.count(SpeechResumedFrame) + kinds.count(VADUserStoppedSpeakingFrame)


async def test_no_hints_are_given_when_none_are_wanted(models: TurnModels, speak: Callable[[str], bytes]) -> None:
    told = await heard(models, speak("what time is it") + SILENCE * 50, hint=None)
    assert {type(frame) for frame in told} == {VADUserStartedSpeakingFrame, VADUserStoppedSpeakingFrame}


def spoken(turn: SmartTurn, sound: bytes) -> None:
    for chunk in chunks(sound):
        turn.hear(chunk, speaking=True)


async def test_smart_turn_has_an_opinion_on_speech_only(models: TurnModels, speak: Callable[[str], bytes]) -> None:
    turn = models.smart_turn(start_secs=0.2)
    turn.hear(SILENCE * 50, speaking=False)
    assert await turn.judge() is None
    spoken(turn, speak("what time is it"))
    judgement = await turn.judge()
    assert judgement is not None
    assert 0 <= judgement.probability <= 1
    turn.clear()
    assert await turn.judge() is None


async def test_the_same_speech_is_judged_alike_whatever_was_said_in_turns_before(
    models: TurnModels, speak: Callable[[str], bytes]
) -> None:
    fresh, used = models.smart_turn(start_secs=0.2), models.smart_turn(start_secs=0.2)
    spoken(used, speak("goodbye"))
    used.clear()
    for turn in (fresh, used):
        turn.hear(SILENCE * 50, speaking=False)
        spoken(turn, speak("what time is it"))
    assert (await fresh.judge()).probability == (await used.judge()).probability  # type: ignore[union-attr]


async def test_without_smart_turn_there_is_no_opinion(speak: Callable[[str], bytes]) -> None:
    turn = TurnModels(smart_turn=False).smart_turn(start_secs=0.2)
    spoken(turn, speak("what time is it"))
    assert await turn.judge() is None
