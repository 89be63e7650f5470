"""Speech, and hints at its end, on the real Silero with recorded sound."""

import asyncio
from collections.abc import Callable

import numpy as np
import pytest
from pipecat.audio.vad.silero import SileroOnnxModel
from pipecat.audio.vad.vad_analyzer import VADParams, VADState
from pipecat.frames.frames import (
    Frame,
    InputAudioRawFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.tests.utils import run_test

from tests.voice.turns.turn_models import RATE, SILENCE, chunks, detector, turn_models
from voice.frames import EagerHintFrame, SpeechResumedFrame
from voice.turns.vad import FAILURES_IN_A_ROW, HintingVADProcessor

Speak = Callable[[str], bytes]

WINDOW_BYTES = 2 * 512
NOTABLE = (VADUserStartedSpeakingFrame, VADUserStoppedSpeakingFrame, EagerHintFrame, SpeechResumedFrame)


async def reported(sound: bytes, *, hint: float | None) -> list[Frame]:
    """What the processor reports of a sound."""
    down, _ = await run_test(
        HintingVADProcessor(vad=turn_models().vad(VADParams(min_volume=0.4)), hint=hint),
        frames_to_send=[InputAudioRawFrame(chunk, RATE, 1) for chunk in chunks(sound)],
        expected_down_frames=None,
    )
    return [frame for frame in down if isinstance(frame, NOTABLE)]


async def test_speech_and_its_end_are_found(speak: Speak) -> None:
    vad = detector()
    states = [await vad.analyze_audio(chunk) for chunk in chunks(speak("what time is it") + SILENCE * 50)]
    assert VADState.SPEAKING in states
    assert states[-1] is VADState.QUIET
    await vad.cleanup()


async def test_two_calls_do_not_share_what_they_have_heard(speak: Speak) -> None:
    one, other = detector(), detector()
    await one.analyze_audio(speak("what time is it")[: RATE * 2])
    assert await other.analyze_audio(SILENCE * 10) is VADState.QUIET
    await asyncio.gather(one.cleanup(), other.cleanup())


async def test_a_hint_comes_before_the_stop(speak: Speak) -> None:
    frames = await reported(speak("what time is it") + SILENCE * 50, hint=0.096)
    kinds = [type(frame) for frame in frames]
    assert kinds[0] is VADUserStartedSpeakingFrame
    assert kinds[-2:] == [EagerHintFrame, VADUserStoppedSpeakingFrame]
    last = frames[-2]
    assert isinstance(last, EagerHintFrame)
    assert last.silence == pytest.approx(0.096)


async def test_a_wrong_hint_is_taken_back_when_speech_resumes(speak: Speak) -> None:
    speech = speak("what time is it")
    middle = len(speech) // 4 * 2
    frames = await reported(speech[:middle] + SILENCE * 7 + speech[middle:] + SILENCE * 50, hint=0.096)
    kinds = [type(frame) for frame in frames]
    resumed = kinds.index(SpeechResumedFrame)
    assert kinds[resumed - 1] is EagerHintFrame
    assert kinds.count(EagerHintFrame) == kinds.count(SpeechResumedFrame) + kinds.count(VADUserStoppedSpeakingFrame)


async def test_a_processor_without_a_hint_time_gives_no_hints(speak: Speak) -> None:
    frames = await reported(speak("what time is it") + SILENCE * 50, hint=None)
    assert {type(frame) for frame in frames} == {VADUserStartedSpeakingFrame, VADUserStoppedSpeakingFrame}


async def test_a_sound_is_in_doubt_before_speech_begins_to_start_and_not_for_long(speak: Speak) -> None:
    vad = detector()
    # Too soft to count: it stays in doubt, though it is a voice, no longer than a start of speech takes to show.
    vad.set_params(VADParams(min_volume=0.9))
    soft = (np.frombuffer(speak("what time is it"), np.int16) // 30).astype(np.int16)
    sound = bytes(RATE) + soft.tobytes()
    doubt = []
    for at in range(0, len(sound), WINDOW_BYTES):
        assert await vad.analyze_audio(sound[at : at + WINDOW_BYTES]) is VADState.QUIET
        doubt.append(vad.in_doubt)
    first = doubt.index(True)
    assert first >= RATE // WINDOW_BYTES
    assert doubt[first : first + 5] == [True] * 4 + [False]
    await vad.cleanup()


@pytest.mark.parametrize(("lasts", "given_up"), [(FAILURES_IN_A_ROW - 1, 0), (3 * FAILURES_IN_A_ROW, 1)])
async def test_a_detector_that_fails_again_and_again_is_given_up(
    lasts: int, given_up: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    vad, reasons = turn_models().vad(VADParams()), list[str]()
    failing = iter([float("nan")] * lasts)
    monkeypatch.setattr(SileroOnnxModel, "__call__", lambda *_: np.array([[next(failing, 0.0)]]))

    async def give_up(reason: str) -> None:
        reasons.append(reason)

    await run_test(
        HintingVADProcessor(vad=vad, hint=None, given_up=give_up),
        frames_to_send=[InputAudioRawFrame(bytes(WINDOW_BYTES), RATE, 1) for _ in range(4 * FAILURES_IN_A_ROW)],
        expected_down_frames=None,
    )
    assert reasons == ["the voice detector failed: it gave a confidence of nan"] * given_up
