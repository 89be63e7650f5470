import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pipecat.frames.frames import (
    CancelFrame,
    ErrorFrame,
    Frame,
    InputAudioRawFrame,
    MetricsFrame,
    STTMetadataFrame,
    STTMuteFrame,
    TranscriptionFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.pipeline.worker import PipelineParams
from pipecat.tests.utils import SleepFrame, run_test

from pipelines.lab.scripted import model_folder
from voice.asr.whisper.decoding import SAMPLE_RATE
from voice.asr.whisper.model import SharedWhisper
from voice.asr.whisper.service import WhisperSTTService
from voice.errors import ComponentError, ConfigurationError
from voice.frames import NothingHeardFrame, RecogniserFailedFrame

TEXT = "What time is it, please?"
Build = Callable[..., Path]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    def build(text: str, **options: Any) -> Path:
        return model_folder.build(tmp_path_factory.mktemp("whisper"), text=text, **options)

    return build


@pytest.fixture(scope="module")
def folder(build: Build) -> Path:
    return build(TEXT)


@pytest.fixture(scope="module")
def whisper(folder: Path) -> Iterator[SharedWhisper]:
    model = SharedWhisper.load(folder)
    yield model
    model.close()


@pytest.fixture(scope="module")
def silent(build: Build) -> Iterator[SharedWhisper]:
    model = SharedWhisper.load(build("Thank you for watching.", unsure=True))
    yield model
    model.close()


class Gated(SharedWhisper):
    """The real model, which notes what it is given and decodes it only once `gate` is open."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self.heard: list[float] = []
        self.threads: set[str] = set()
        super().__init__(*args, **options)
        self.heard.clear()

    def transcribe(self, audio: NDArray[np.float32], **options: Any) -> str:
        self.heard.append(len(audio) / SAMPLE_RATE)
        self.threads.add(threading.current_thread().name)
        self.gate.wait()
        return super().transcribe(audio, **options)


def noise(seconds: float) -> NDArray[np.float32]:
    return (np.random.default_rng(0).standard_normal(round(seconds * SAMPLE_RATE)) * 0.1).astype(np.float32)


def audio(seconds: float) -> list[Frame]:
    """Audio in frames of 20 ms."""
    pcm = (noise(seconds) * 32767).astype(np.int16).tobytes()
    return [InputAudioRawFrame(pcm[i : i + 640], SAMPLE_RATE, 1) for i in range(0, len(pcm), 640)]


def spoken(seconds: float) -> list[Frame]:
    return [
        VADUserStartedSpeakingFrame(start_secs=0.2),
        *audio(seconds),
        VADUserStoppedSpeakingFrame(stop_secs=0.2),
    ]


async def outcome(service: WhisperSTTService, frames: Sequence[Frame], **options: Any) -> list[Frame]:
    """What the service says about the utterances in `frames`, in order."""
    down, _ = await run_test(service, frames_to_send=frames, start_timeout=30.0, **options)
    return [f for f in down if isinstance(f, TranscriptionFrame | NothingHeardFrame | RecogniserFailedFrame)]


async def test_an_utterance_becomes_one_finalised_transcript(whisper: SharedWhisper) -> None:
    [frame] = await outcome(WhisperSTTService(whisper), spoken(1.0))
    assert isinstance(frame, TranscriptionFrame)
    assert frame.text == TEXT
    assert frame.finalized
    assert frame.language == "en"


async def test_each_utterance_has_its_own_transcript(whisper: SharedWhisper) -> None:
    pause: list[Frame] = [SleepFrame(2.0), *audio(0.2)]
    frames = await outcome(WhisperSTTService(whisper), [*spoken(0.5), *pause, *spoken(0.5)])
    assert [getattr(frame, "text", None) for frame in frames] == [TEXT, TEXT]


async def test_an_utterance_begins_before_the_detector_reports_speech(folder: Path) -> None:
    model = Gated.load(folder)
    await outcome(WhisperSTTService(model, pre_roll=0.4), [*audio(2.0), *spoken(0.6)])
    assert model.heard == [pytest.approx(1.0)]
    model.close()


async def test_a_result_is_discarded_when_the_user_goes_on_and_its_audio_decoded_again(folder: Path) -> None:
    model = Gated.load(folder)
    model.gate.clear()
    service = WhisperSTTService(model)
    release = asyncio.get_running_loop().call_later(2.0, model.gate.set)
    frames = await outcome(service, [*spoken(1.0), SleepFrame(1.0), *audio(0.2), *spoken(0.6)])
    release.cancel()
    assert [getattr(frame, "text", None) for frame in frames] == [TEXT]
    assert model.heard == [pytest.approx(1.0), pytest.approx(1.8)]
    model.close()


async def test_a_cancelled_call_does_not_wait_for_a_result(folder: Path) -> None:
    model = Gated.load(folder)
    model.gate.clear()
    frames = [*spoken(1.0), SleepFrame(0.2), CancelFrame()]
    assert await outcome(WhisperSTTService(model), frames, send_end_frame=False) == []
    assert not model.gate.is_set()
    model.gate.set()
    model.close()


async def test_the_audio_of_a_delivered_result_is_not_decoded_again(folder: Path) -> None:
    model = Gated.load(folder)
    await outcome(WhisperSTTService(model), [*spoken(1.0), SleepFrame(2.0), *audio(0.2), *spoken(0.6)])
    assert model.heard == [pytest.approx(1.0), pytest.approx(0.8)]
    model.close()


async def test_text_that_whisper_makes_up_in_silence_is_reported_as_nothing_heard(silent: SharedWhisper) -> None:
    [frame] = await outcome(WhisperSTTService(silent), spoken(1.0))
    assert isinstance(frame, NothingHeardFrame)


async def test_a_failing_engine_is_reported_and_the_call_goes_on(folder: Path) -> None:
    model = SharedWhisper.load(folder)
    model.close()
    frames = await outcome(WhisperSTTService(model), [*spoken(0.5), SleepFrame(0.2), *spoken(0.5)])
    assert [type(frame) for frame in frames] == [RecogniserFailedFrame, RecogniserFailedFrame]
    assert isinstance(frames[0], RecogniserFailedFrame)
    assert frames[0].reason.startswith("scripted:whisper failed: ")


async def test_speech_while_muted_is_not_transcribed(folder: Path) -> None:
    model = Gated.load(folder)
    frames: list[Frame] = [*audio(1.0), STTMuteFrame(mute=True), *spoken(1.0), STTMuteFrame(mute=False), *spoken(0.5)]
    assert len(await outcome(WhisperSTTService(model), frames)) == 1
    assert model.heard == [pytest.approx(0.5)]
    model.close()


async def test_two_calls_share_one_model_and_its_only_thread(folder: Path) -> None:
    model = Gated.load(folder)
    services = [WhisperSTTService(model), WhisperSTTService(model)]
    results = await asyncio.gather(*(outcome(service, spoken(1.0)) for service in services))
    assert [[getattr(frame, "text", None) for frame in frames] for frames in results] == [[TEXT], [TEXT]]
    assert len(model.threads) == 1
    assert model.threads.pop().startswith("whisper")
    model.close()


async def test_the_expected_wait_for_a_transcript_follows_from_the_measured_pass(whisper: SharedWhisper) -> None:
    service = WhisperSTTService(whisper)
    down, _ = await run_test(service, frames_to_send=[SleepFrame(0.1)], start_timeout=30.0)
    [stated] = [frame.ttfs_p99_latency for frame in down if isinstance(frame, STTMetadataFrame)]
    assert whisper.pass_seconds > 0
    assert stated == pytest.approx(0.2 + 0.3 + 2 * whisper.pass_seconds)


async def test_the_time_to_the_transcript_is_reported_as_a_metric(whisper: SharedWhisper) -> None:
    service = WhisperSTTService(whisper)
    down, _ = await run_test(
        service, frames_to_send=spoken(0.5), start_timeout=30.0, pipeline_params=PipelineParams(enable_metrics=True)
    )
    kinds = {type(data).__name__ for frame in down if isinstance(frame, MetricsFrame) for data in frame.data}
    assert {"TTFBMetricsData", "ProcessingMetricsData"} <= kinds


async def test_audio_at_another_rate_is_refused(whisper: SharedWhisper) -> None:
    options = PipelineParams(audio_in_sample_rate=8000)
    service = WhisperSTTService(whisper)
    _, up = await run_test(service, frames_to_send=[SleepFrame(0.1)], start_timeout=30.0, pipeline_params=options)
    [error] = [frame.error for frame in up if isinstance(frame, ErrorFrame)]
    assert "Whisper needs audio at 16000 Hz, not 8000: set audio_in_sample_rate=16000." in error


def test_the_name_of_a_scripted_model_says_so(whisper: SharedWhisper) -> None:
    assert whisper.name == "scripted:whisper"


def test_another_text_is_another_folder(build: Build, whisper: SharedWhisper) -> None:
    other = SharedWhisper.load(build('Set a "naïve" timer (50%), won\'t you?'))
    assert other.transcribe(noise(2.0)) == 'Set a "naïve" timer (50%), won\'t you?'
    assert whisper.transcribe(noise(2.0)) == TEXT
    other.close()


def test_a_scripted_model_cannot_be_given_a_real_name(build: Build) -> None:
    with pytest.raises(ValueError, match="must begin with 'scripted:'"):
        build(TEXT, name="tiny.en")


@pytest.mark.parametrize(("seconds", "words"), [(1.0, 24), (4.0, 48), (60.0, 224)])
def test_a_runaway_text_is_cut_at_what_can_be_said_in_its_time(build: Build, seconds: float, words: int) -> None:
    counted = SharedWhisper.load(build(" ".join(str(i) for i in range(460))))
    text = counted.transcribe(noise(seconds)).split()
    assert text[:words] == [str(i) for i in range(words)]
    assert len(text) == words * max(1, seconds // 30)  # a long utterance is heard window by window
    counted.close()


@pytest.mark.parametrize("language", ["en", "de", None])
def test_a_multilingual_model_uses_the_configured_or_the_detected_language(build: Build, language: str | None) -> None:
    model = SharedWhisper.load(build(" ".join(str(i) for i in range(460)), multilingual=True), language=language)
    assert model.transcribe(noise(1.0)) == " ".join(str(i) for i in range(24))
    model.close()


def test_a_runaway_loop_gives_no_text(build: Build) -> None:
    looping = SharedWhisper.load(build("thank you " * 200))
    assert looping.transcribe(noise(2.0)) == ""
    looping.close()


def test_punctuation_alone_gives_no_text(build: Build) -> None:
    dots = SharedWhisper.load(build("..."))
    assert dots.transcribe(noise(2.0)) == ""
    dots.close()


@pytest.mark.parametrize("samples", [0, 1, 160, SAMPLE_RATE * 30])
def test_audio_of_any_length_is_accepted(whisper: SharedWhisper, samples: int) -> None:
    assert whisper.transcribe(np.zeros(samples, np.float32)) in ("", TEXT)


def test_a_language_the_model_does_not_know_is_refused(folder: Path) -> None:
    with pytest.raises(ConfigurationError, match=r'does not understand language = "de"; use multilingual'):
        SharedWhisper.load(folder, language="de")


def test_an_unknown_compute_type_is_refused(folder: Path) -> None:
    with pytest.raises(ConfigurationError, match="int3"):
        SharedWhisper.load(folder, compute_type="int3")


def test_a_damaged_model_is_a_component_error(build: Build) -> None:
    damaged = build(TEXT)
    weights = damaged / "model.bin"
    weights.write_bytes(weights.read_bytes()[:100_000])
    with pytest.raises(ComponentError, match="does not run on cpu"):
        SharedWhisper.load(damaged)


def test_importing_the_service_loads_no_engine() -> None:
    program = "import sys, voice.asr.whisper.service; print({'faster_whisper', 'ctranslate2', 'av'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_the_command_writes_a_model_that_says_its_text(tmp_path: Path) -> None:
    options = ["--text", "Good morning.", "--size", "quick"]
    command = [sys.executable, "-m", "pipelines.lab.scripted", str(tmp_path / "model"), *options]
    subprocess.run(command, check=True, capture_output=True)
    model = SharedWhisper.load(tmp_path / "model")
    assert model.transcribe(noise(1.0)) == "Good morning."
    model.close()
