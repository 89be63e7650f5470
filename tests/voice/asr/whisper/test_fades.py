"""Speech is decoded when the voice fades, for answers that start before it has ended."""
# ruff: noqa: F401, F811  (fixtures of the module beside it)

import threading
import time

import numpy as np
from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    EagerTranscriptionFrame,
    Frame,
    TranscriptionFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.tests.utils import SleepFrame, run_test

from tests.voice.asr.whisper.test_streaming import (
    Noting,
    audio,
    folder,
    heard,
    model,
    speech,
    texts,
    turns,
)
from voice.asr.whisper.decoding import SAMPLE_RATE
from voice.asr.whisper.service import WhisperSTTService
from voice.client.fixtures.fixture import FixtureTurn
from voice.frames import EagerHintFrame, VoiceFadedFrame


def fading(turn: FixtureTurn, seconds: float) -> list[Frame]:
    """What follows a recording's speech: nearly silence, in real time."""
    noise = (np.random.default_rng(1).standard_normal(round(seconds * SAMPLE_RATE)) * 3).astype(np.int16)
    return audio(noise, every=1)


async def test_words_are_given_when_the_voice_fades(model: Noting, turns: dict[str, FixtureTurn]) -> None:
    turn = turns["what is twelve minus five"]
    service = WhisperSTTService(model, at_fades=True)
    frames = await heard(service, speech(turn), fading(turn, 0.3), [SleepFrame(0.3)])
    assert texts(frames, EagerTranscriptionFrame)[-1] == turn.text
    assert not texts(frames, TranscriptionFrame)
    assert (len(model.partials), len(model.finals)) == (1, 1), "the second has heard all words"


async def test_a_pass_at_a_fade_is_withdrawn_when_the_voice_rises(model: Noting, turns: dict[str, FixtureTurn]) -> None:
    turn = turns["what is twelve minus five"]
    model.partial_gate.clear()

    def open_late() -> None:
        while not model.partials:
            time.sleep(0.01)
        time.sleep(1.0)
        model.partial_gate.set()

    threading.Thread(target=open_late, daemon=True).start()
    frames = await heard(
        WhisperSTTService(model, at_fades=True),
        speech(turn),
        fading(turn, 0.1),
        audio(turn.samples[round(turn.onset * SAMPLE_RATE) :][:8000], every=5),
        [SleepFrame(2.0)],
    )
    assert model.partials
    assert not texts(frames, EagerTranscriptionFrame)


async def test_each_fade_gets_few_passes_and_steady_speech_none(model: Noting) -> None:
    steady = (np.sin(np.arange(2 * SAMPLE_RATE) / 20) * 8000).astype(np.int16)
    service = WhisperSTTService(model, at_fades=True)
    await heard(service, [VADUserStartedSpeakingFrame(), *audio(steady, every=5)])
    assert model.partials == []
    await heard(service, [VADUserStartedSpeakingFrame(), *audio(steady, every=5), *audio(steady // 50, every=5)])
    assert (len(model.partials), len(model.finals)) == (1, 1)


async def test_speech_over_an_answer_is_decoded_at_intervals_as_well(model: Noting) -> None:
    steady = (np.sin(np.arange(2 * SAMPLE_RATE) / 20) * 8000).astype(np.int16)
    service = WhisperSTTService(model, at_fades=True)
    await heard(service, [BotStartedSpeakingFrame(), VADUserStartedSpeakingFrame(), *audio(steady, every=5)])
    assert model.partials
    model.partials.clear()
    await heard(service, [BotStoppedSpeakingFrame(), VADUserStartedSpeakingFrame(), *audio(steady, every=5)])
    assert model.partials == []


async def test_the_pass_that_has_heard_all_words_is_the_final_one(model: Noting, turns: dict[str, FixtureTurn]) -> None:
    turn = turns["what is twelve minus five"]
    stop = [VADUserStoppedSpeakingFrame(stop_secs=0.2)]
    service = WhisperSTTService(model, at_fades=True)
    frames = await heard(
        service,
        speech(turn),
        fading(turn, 0.3),
        [EagerHintFrame(silence=0.25), SleepFrame(0.3), *stop, SleepFrame(0.3)],
    )
    assert len(model.finals) == 1
    assert texts(frames, EagerTranscriptionFrame)[-1] == turn.text, "said again at the hint"
    assert texts(frames, TranscriptionFrame) == [turn.text]


async def test_a_pass_before_the_voice_rose_again_is_not_the_final_one(
    model: Noting, turns: dict[str, FixtureTurn]
) -> None:
    turn = turns["what is twelve minus five"]
    loud = audio((np.sin(np.arange(3200) / 20) * 8000).astype(np.int16), every=1)
    service = WhisperSTTService(model, at_fades=True)
    await heard(service, speech(turn), fading(turn, 0.3), [*loud, EagerHintFrame(silence=0.064), SleepFrame(0.3)])
    assert len(model.finals) == 2


async def test_a_pass_that_has_not_heard_all_speech_is_not_the_final_one(
    model: Noting, turns: dict[str, FixtureTurn]
) -> None:
    turn = turns["what is twelve minus five"]
    service = WhisperSTTService(model, at_fades=True)
    await heard(service, speech(turn), fading(turn, 0.3), [EagerHintFrame(silence=0.1), SleepFrame(0.3)])
    assert len(model.finals) == 2


async def announced(service: WhisperSTTService, *frames: list[Frame]) -> list[Frame]:
    """The announcements of fades and the words at them."""
    down, _ = await run_test(service, frames_to_send=[f for part in frames for f in part], start_timeout=30.0)
    return [f for f in down if isinstance(f, VoiceFadedFrame | EagerTranscriptionFrame)]


async def test_a_fade_is_announced_before_its_words(model: Noting, turns: dict[str, FixtureTurn]) -> None:
    service = WhisperSTTService(model, at_fades=True)
    turn = turns["what is twelve minus five"]
    frames = await announced(service, speech(turn), fading(turn, 0.3), [SleepFrame(0.3)])
    assert isinstance(frames[0], VoiceFadedFrame)
    assert [frame.lasting for frame in frames if isinstance(frame, VoiceFadedFrame)][-2:] == [False, True]
    assert texts(frames, EagerTranscriptionFrame)


async def test_a_fade_that_is_over_with_the_next_audio_is_not_announced(
    model: Noting, turns: dict[str, FixtureTurn]
) -> None:
    steady = (np.sin(np.arange(2 * SAMPLE_RATE) / 20) * 8000).astype(np.int16)
    loud = [VADUserStartedSpeakingFrame(start_secs=0.2), *audio(steady)]
    model.partial_gate.clear()
    threading.Timer(1.0, model.partial_gate.set).start()
    quiet = fading(turns["what is twelve minus five"], 0.06)
    assert not await announced(WhisperSTTService(model, at_fades=True), loud, quiet, audio(steady))
    assert model.partials, "the fade was noticed"
