"""An introduction and the rest of its clause sound like one sentence; the voice's own pause fills a wait for it."""

import asyncio

import numpy as np
import pytest
from pipecat.frames.frames import (
    InterruptionFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    TTSAudioRawFrame,
)

from tests.pulled import use_pulled
from tests.voice.tts.piper import tts_rig
from voice.frames import AnswerTextFrame
from voice.models.store import find
from voice.tts.piper.pieces import AUDIBLE, LEVEL_BLOCK, samples_of
from voice.tts.piper.voice import LEAD_FIRST, LEAD_LATER, TAIL, Voice, embedded_voice

INTRODUCTION, REST = "Sure,", "I can help you with that."
LONGEST_PAUSE = 0.12


@pytest.fixture(scope="module")
def voice() -> Voice:
    return asyncio.run(prepared(Voice(embedded_voice())))


async def prepared(voice: Voice) -> Voice:
    await voice.prepare_introductions([INTRODUCTION])
    return voice


def longest_silence(samples: np.ndarray, rate: int) -> float:
    """Seconds of the longest silence between two audible blocks."""
    size = round(LEVEL_BLOCK * rate)
    blocks = samples[: len(samples) // size * size].reshape(-1, size) / 32768
    audible = np.flatnonzero(np.sqrt((blocks**2).mean(axis=1)) > AUDIBLE)
    return float(np.diff(audible).max() - 1) * size / rate


async def spoken(voice: Voice, *, wait: float) -> np.ndarray:
    """The sound of an introduction and of the rest of its clause, which comes after `wait` seconds."""
    async with tts_rig.calling(voice) as call:
        await call.say(LLMFullResponseStartFrame(), AnswerTextFrame(INTRODUCTION, clauses=(INTRODUCTION,)))
        await call.spoken.until(TTSAudioRawFrame)
        await asyncio.sleep(wait)
        await call.say(AnswerTextFrame(f" {REST}", clauses=(REST,)), LLMFullResponseEndFrame())
        await call.out.until(LLMFullResponseEndFrame)
    assert call.context.get_messages() == [{"role": "assistant", "content": f"{INTRODUCTION} {REST}"}]
    return np.concatenate(
        [np.frombuffer(frame.audio, np.int16) for frame in call.spoken.of(TTSAudioRawFrame)]  # type: ignore[attr-defined]
    )


def test_an_introduction_lasts_as_long_as_its_sound_and_the_pause_after_it(voice: Voice) -> None:
    alone, pause = voice.prepared(INTRODUCTION), voice.pause_after(f"{INTRODUCTION} ")
    assert alone is not None
    assert pause is not None
    sound = samples_of(alone)
    assert voice.introduction(INTRODUCTION) == pytest.approx((len(sound) + len(pause)) / voice.sample_rate)
    silence = (len(sound) - np.flatnonzero(np.abs(sound) > AUDIBLE * 32768)[-1]) / voice.sample_rate
    assert silence == pytest.approx(TAIL, abs=0.03)
    assert [word for piece in alone for word in piece.words] == [INTRODUCTION]
    assert np.sqrt(((pause / 32768) ** 2).mean()) < AUDIBLE
    assert voice.introduction("Sure") is voice.introduction("Smith,") is None


async def test_the_rest_follows_after_a_pause_as_inside_a_clause(voice: Voice) -> None:
    sound = await spoken(voice, wait=0.0)
    assert longest_silence(sound, voice.sample_rate) <= LONGEST_PAUSE


async def test_the_voices_own_pause_fills_the_wait_for_the_rest(voice: Voice) -> None:
    sound, pause = await spoken(voice, wait=1.0), voice.pause_after(INTRODUCTION)
    assert pause is not None
    expected = len(pause) / voice.sample_rate + TAIL + LEAD_LATER
    assert longest_silence(sound, voice.sample_rate) == pytest.approx(expected, abs=0.03)


async def test_an_interruption_ends_the_pause(voice: Voice) -> None:
    async with tts_rig.calling(voice) as call:
        await call.say(LLMFullResponseStartFrame(), AnswerTextFrame(INTRODUCTION, clauses=(INTRODUCTION,)))
        await call.spoken.until(TTSAudioRawFrame)
        await call.say(InterruptionFrame())
        await call.spoken.until(InterruptionFrame)
        before = len(call.spoken.of(TTSAudioRawFrame))
        await asyncio.sleep(1.0)
        assert len(call.spoken.of(TTSAudioRawFrame)) == before


async def test_a_real_voice_joins_them_too(monkeypatch: pytest.MonkeyPatch) -> None:
    use_pulled(monkeypatch, "en_US-joe-medium")
    path = find("en_US-joe-medium")
    assert path is not None
    joe = await prepared(Voice(path))
    alone = joe.prepared(INTRODUCTION)
    assert alone is not None
    # Piper draws its noise anew each time, and a soft beginning may be silence for some blocks.
    rests = [samples_of(await joe.speak(REST, lead=LEAD_LATER)) for _ in range(5)]
    pauses = [longest_silence(np.concatenate([samples_of(alone), rest]), joe.sample_rate) for rest in rests]
    assert np.median(pauses) <= LONGEST_PAUSE
    own = longest_silence(joe.synthesize(f"{INTRODUCTION} {REST}", lead=LEAD_FIRST), joe.sample_rate)
    assert own > LONGEST_PAUSE
    joe.close()
