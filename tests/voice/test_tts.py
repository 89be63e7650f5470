"""The embedded voice speaks, at a steady level and without a silent start; bad voices are refused."""

from pathlib import Path

import numpy as np
import pytest
from pipecat.frames.frames import (
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
    TTSAudioRawFrame,
    TTSTextFrame,
)
from pipecat.pipeline.worker import PipelineParams
from pipecat.tests.utils import run_test

from voice.errors import ConfigurationError
from voice.tts.piper import PiperTTSService
from voice.tts.voice import Voice, embedded_voice, onset


@pytest.fixture(scope="module")
def voice() -> Voice:
    return Voice(embedded_voice())


@pytest.mark.parametrize("text", ["It is 4:10 in the afternoon.", "Hello there.", "7 times 8 is 56."])
def test_speech_starts_at_the_lead_asked_for(voice: Voice, text: str) -> None:
    samples = voice.synthesize(text, lead=0.05)
    assert samples.dtype == np.int16
    assert onset(samples / np.float32(32768), voice.sample_rate) / voice.sample_rate == pytest.approx(0.05, abs=0.005)


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
        pipeline_params=PipelineParams(audio_out_sample_rate=voice.sample_rate),
    )
    spoken = [frame.text for frame in down if isinstance(frame, TTSTextFrame)]
    assert spoken == ["Once upon a time,", "there was a bell.", "It rang."]
    audio = [frame for frame in down if isinstance(frame, TTSAudioRawFrame)]
    assert {frame.sample_rate for frame in audio} == {voice.sample_rate}
    seconds = sum(len(frame.audio) for frame in audio) / 2 / voice.sample_rate
    assert 1.5 < seconds < 6
