"""Whisper while the user speaks: partial texts, the final pass begun at a hint, and what is heard of each utterance."""

import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pipecat.frames.frames import (
    EagerTranscriptionFrame,
    Frame,
    InputAudioRawFrame,
    InterimTranscriptionFrame,
    STTMuteFrame,
    TranscriptionFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.tests.utils import SleepFrame, run_test

from pipelines.lab.scripted.model import ScriptedWhisperModel, build_for_fixtures
from voice.asr.whisper.decoding import SAMPLE_RATE, Decoded, Decoding
from voice.asr.whisper.model import PassPacing, SharedWhisper
from voice.asr.whisper.service import WhisperSTTService
from voice.client.fixtures.fixture import FixtureTurn, load_fixtures
from voice.frames import EagerHintFrame, NothingHeardFrame, RecogniserFailedFrame, SpeechResumedFrame

SAMPLES = Path(__file__).parents[4] / "samples"
FIXTURES = [SAMPLES / name for name in ("arithmetic", "pauses", "commands")]
Texts = (InterimTranscriptionFrame, EagerTranscriptionFrame, TranscriptionFrame)
Outcomes = (TranscriptionFrame, NothingHeardFrame, RecogniserFailedFrame)
CHUNK = 320


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_for_fixtures(tmp_path_factory.mktemp("scripted"), FIXTURES, size="quick")


class Noting(SharedWhisper):
    """The real model, which notes its final passes (seconds, prefix), and begins them when `gate` is open.

    Of `gates` each final pass takes one; partial passes begin when `partial_gate` is open.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self.finals: list[tuple[float, str]] = []
        self.partials: list[tuple[float, str]] = []
        self.gates: list[threading.Event] = []
        self.partial_gate = threading.Event()
        self.partial_gate.set()
        self.eager = True
        super().__init__(*args, **options)
        self.finals.clear()

    def may_listen(self, *, at_once: float = 0.0) -> bool:
        """As often as there is audio: the tests do not send it in real time."""
        return self.eager and self._queue.is_idle

    def transcribe(self, audio: NDArray[np.float32], **options: Any) -> str:
        self.finals.append((round(len(audio) / SAMPLE_RATE, 2), options["prefix"]))
        (self.gates.pop(0) if self.gates else self.gate).wait()
        return super().transcribe(audio, **options)

    def listen(self, audio: NDArray[np.float32], **options: Any) -> Decoded:
        self.partials.append((round(len(audio) / SAMPLE_RATE, 2), options["prefix"]))
        self.partial_gate.wait()
        return super().listen(audio, **options)


@pytest.fixture
def model(folder: Path) -> Iterator[Noting]:
    model = Noting.load(folder, decoding=Decoding(context="auto"), model_class=ScriptedWhisperModel)
    yield model
    model.gate.set()
    model.close()


@pytest.fixture(scope="module")
def turns() -> dict[str, FixtureTurn]:
    return {turn.text: turn for fixture in load_fixtures(FIXTURES) for turn in fixture.turns}


def audio(pcm: NDArray[np.int16], *, every: int = 0) -> list[Frame]:
    """Audio in frames of 20 ms; after `every` frames a moment for the passes begun meanwhile."""
    frames: list[Frame] = []
    for index, at in enumerate(range(0, len(pcm), CHUNK), 1):
        frames.append(InputAudioRawFrame(pcm[at : at + CHUNK].tobytes(), SAMPLE_RATE, 1))
        if every and index % every == 0:
            frames.append(SleepFrame(0.05))
    return frames


def silence(seconds: float) -> list[Frame]:
    return audio(np.zeros(round(seconds * SAMPLE_RATE), np.int16))


def speech(turn: FixtureTurn, start: float = 0.0, end: float | None = None, *, every: int = 0) -> list[Frame]:
    """A recording's speech from `start` to `end` seconds of it, with the detector's report of its beginning."""
    end = turn.end if end is None else end
    pcm = turn.samples[round(start * SAMPLE_RATE) : round(end * SAMPLE_RATE)]
    lag = round(0.2 * SAMPLE_RATE) + round(max(0.0, turn.onset - start) * SAMPLE_RATE)
    return [*audio(pcm[:lag]), VADUserStartedSpeakingFrame(start_secs=0.2), *audio(pcm[lag:], every=every)]


def stop() -> list[Frame]:
    return [*silence(0.1), VADUserStoppedSpeakingFrame(stop_secs=0.2)]


def hint() -> list[Frame]:
    return [*silence(0.1), EagerHintFrame(silence=0.1)]


async def heard(service: WhisperSTTService, *frames: Iterable[Frame]) -> list[Frame]:
    down, _ = await run_test(service, frames_to_send=[f for part in frames for f in part], start_timeout=30.0)
    return [f for f in down if isinstance(f, (*Texts, *Outcomes))]


def texts(frames: Sequence[Frame], kind: type[Frame]) -> list[str]:
    return [frame.text for frame in frames if isinstance(frame, kind) and isinstance(frame, Texts)]


async def test_words_appear_while_they_are_spoken_and_one_final_text_follows(
    model: Noting, turns: dict[str, FixtureTurn]
) -> None:
    turn = turns["what is the square root of eighty one"]
    frames = await heard(WhisperSTTService(model), speech(turn, every=5), stop())
    interims = texts(frames, InterimTranscriptionFrame)
    assert len(interims) >= 4
    assert interims[0].split()[0] == "what"
    assert len(interims[-1].split()) >= 6
    assert texts(frames, TranscriptionFrame) == [turn.text]
    assert isinstance(frames[-1], TranscriptionFrame)
    assert frames[-1].finalized


async def test_only_unconfirmed_words_are_decoded(model: Noting, turns: dict[str, FixtureTurn]) -> None:
    turn = turns["what is the square root of eighty one"]
    await heard(WhisperSTTService(model), speech(turn, every=5), stop())
    prefixes = [prefix for _, prefix in [*model.partials, *model.finals]]
    assert all(turn.text.startswith(prefix) for prefix in prefixes)
    assert prefixes == sorted(prefixes, key=len)
    assert len(prefixes[-1].split()) >= 4


async def test_partial_passes_wait_for_new_audio_and_skip_a_fading_voice(
    model: Noting, turns: dict[str, FixtureTurn]
) -> None:
    turn = turns["what is twelve minus five"]
    await heard(WhisperSTTService(model), speech(turn, every=1), silence(0.4), stop())
    times = [seconds for seconds, _ in model.partials]
    assert all(later - sooner >= 0.29 for sooner, later in zip(times, times[1:], strict=False))
    assert times[-1] <= turn.end + 0.06


async def test_without_streaming_there_is_only_the_final_text(model: Noting, turns: dict[str, FixtureTurn]) -> None:
    turn = turns["what is twelve minus five"]
    frames = await heard(WhisperSTTService(model, streaming=False), speech(turn, every=5), stop())
    assert [type(frame) for frame in frames] == [TranscriptionFrame]
    assert model.partials == []


async def test_a_busy_or_slow_model_runs_no_partial_passes(model: Noting, turns: dict[str, FixtureTurn]) -> None:
    model.eager = False
    frames = await heard(WhisperSTTService(model), speech(turns["what is twelve minus five"], every=5), stop())
    assert [type(frame) for frame in frames] == [TranscriptionFrame]
    assert model.partials == []


async def test_the_text_at_a_hint_is_the_final_text_and_is_decoded_once(
    model: Noting, turns: dict[str, FixtureTurn]
) -> None:
    turn = turns["what is twelve minus five"]
    frames = await heard(WhisperSTTService(model), speech(turn), hint(), [SleepFrame(1.0)], stop())
    assert [type(frame) for frame in frames if not isinstance(frame, InterimTranscriptionFrame)] == [
        EagerTranscriptionFrame,
        TranscriptionFrame,
    ]
    assert texts(frames, EagerTranscriptionFrame) == texts(frames, TranscriptionFrame) == [turn.text]
    assert len(model.finals) == 1


async def test_a_text_that_comes_after_the_end_of_speech_is_only_final(
    model: Noting, turns: dict[str, FixtureTurn]
) -> None:
    turn = turns["what is twelve minus five"]
    model.gate.clear()
    threading.Timer(1.0, model.gate.set).start()
    frames = await heard(WhisperSTTService(model, streaming=False), speech(turn), hint(), [SleepFrame(0.1)], stop())
    assert [type(frame) for frame in frames] == [TranscriptionFrame]
    assert len(model.finals) == 1


async def test_a_wrong_hint_costs_a_pass_and_the_rest_is_still_recognised(
    model: Noting, turns: dict[str, FixtureTurn]
) -> None:
    turn = turns["what is twelve minus five"]
    middle = turn.speech[0][0] + 1.0
    rest = audio(turn.samples[round(middle * SAMPLE_RATE) : round(turn.end * SAMPLE_RATE)])
    frames = await heard(
        WhisperSTTService(model, streaming=False),
        speech(turn, end=middle),
        [EagerHintFrame(silence=0.1), SleepFrame(1.0), SpeechResumedFrame()],
        rest,
        stop(),
    )
    eager, final = frames
    assert isinstance(eager, EagerTranscriptionFrame)
    assert isinstance(final, TranscriptionFrame)
    assert final.text == turn.text
    assert len(eager.text.split()) < len(turn.text.split())
    assert len(model.finals) == 2


async def test_no_early_text_comes_after_speech_has_gone_on(model: Noting, turns: dict[str, FixtureTurn]) -> None:
    turn = turns["what is twelve minus five"]
    model.gate.clear()
    threading.Timer(2.0, model.gate.set).start()
    frames = await heard(
        WhisperSTTService(model, streaming=False),
        speech(turn),
        [*hint(), SleepFrame(1.0), SpeechResumedFrame(), *silence(0.1)],
        stop(),
    )
    assert texts(frames, TranscriptionFrame) == [turn.text]
    assert len(frames) == 1
    assert len(model.finals) == 2


async def test_each_right_hint_brings_its_text_and_the_last_text_is_final(
    model: Noting, turns: dict[str, FixtureTurn]
) -> None:
    turn = turns["what is twelve minus five"]
    again: list[Frame] = [SleepFrame(1.0), SpeechResumedFrame(), *silence(0.1), *hint(), SleepFrame(1.0)]
    frames = await heard(WhisperSTTService(model, streaming=False), speech(turn), hint(), again, stop())
    assert [type(frame) for frame in frames] == [EagerTranscriptionFrame, EagerTranscriptionFrame, TranscriptionFrame]
    assert texts(frames, TranscriptionFrame) == [turn.text]
    assert len(model.finals) == 2


async def test_a_speaker_who_resumes_after_the_end_is_transcribed_whole(
    model: Noting, turns: dict[str, FixtureTurn]
) -> None:
    turn = turns["what is half um of thirty"]
    (_, first), (second, _) = turn.speech
    model.gate.clear()
    threading.Timer(1.5, model.gate.set).start()
    frames = await heard(
        WhisperSTTService(model, streaming=False),
        [*speech(turn, end=first), *hint(), *stop(), SleepFrame(0.2)],
        [*audio(turn.samples[round(second * SAMPLE_RATE) :][:3200]), VADUserStartedSpeakingFrame(start_secs=0.2)],
        audio(turn.samples[round(second * SAMPLE_RATE) + 3200 :]),
        stop(),
    )
    assert [type(frame) for frame in frames] == [TranscriptionFrame]
    assert texts(frames, TranscriptionFrame) == [turn.text]


async def test_a_withdrawn_hints_pass_does_not_keep_the_next_one_waiting(
    model: Noting, turns: dict[str, FixtureTurn]
) -> None:
    """The first pass would end only after the last text has come."""
    turn = turns["what is twelve minus five"]
    first = threading.Event()
    model.gates = [first]
    release = threading.Timer(10.0, first.set)
    release.start()
    frames = await heard(
        WhisperSTTService(model, streaming=False),
        speech(turn),
        [*hint(), SleepFrame(1.0), SpeechResumedFrame(), *silence(0.1)],
        stop(),
    )
    assert texts(frames, TranscriptionFrame) == [turn.text]
    assert len(model.finals) == 2
    assert not first.is_set()
    release.cancel()
    first.set()


async def test_the_final_pass_does_not_wait_for_a_partial_one(model: Noting, turns: dict[str, FixtureTurn]) -> None:
    turn = turns["what is twelve minus five"]
    model.partial_gate = gate = threading.Event()
    release = threading.Timer(10.0, gate.set)
    release.start()
    frames = await heard(WhisperSTTService(model), speech(turn, every=5), stop())
    assert texts(frames, TranscriptionFrame) == [turn.text]
    assert len(model.partials) == 1
    assert not gate.is_set()
    release.cancel()
    gate.set()


async def test_noise_brings_neither_early_nor_final_words(model: Noting) -> None:
    noise = (np.random.default_rng(0).standard_normal(2 * SAMPLE_RATE) * 3000).astype(np.int16)
    frames = await heard(
        WhisperSTTService(model),
        [VADUserStartedSpeakingFrame(), *audio(noise, every=5), *hint(), SleepFrame(0.5)],
        stop(),
    )
    assert [type(frame) for frame in frames] == [NothingHeardFrame]
    assert model.partials


async def test_an_engine_that_fails_at_the_hint_fails_the_utterance_once(
    model: Noting, turns: dict[str, FixtureTurn]
) -> None:
    model.close()
    turn = turns["what is twelve minus five"]
    frames = await heard(WhisperSTTService(model), speech(turn), hint(), [SleepFrame(0.2)], stop())
    assert [type(frame) for frame in frames] == [RecogniserFailedFrame]


async def test_muting_takes_back_the_hint(model: Noting, turns: dict[str, FixtureTurn]) -> None:
    model.gate.clear()
    threading.Timer(0.5, model.gate.set).start()
    muted: list[Frame] = [STTMuteFrame(mute=True), SleepFrame(1.0)]
    turn = turns["what is twelve minus five"]
    assert await heard(WhisperSTTService(model, streaming=False), speech(turn), hint(), muted, stop()) == []


async def test_a_hint_without_speech_is_ignored(model: Noting) -> None:
    assert await heard(WhisperSTTService(model), silence(0.5), [EagerHintFrame(), SpeechResumedFrame()], stop()) == []
    assert model.finals == []


async def test_every_recordings_final_text_is_right_though_partial_texts_are_not(
    model: Noting, turns: dict[str, FixtureTurn]
) -> None:
    partial = []
    for turn in turns.values():
        frames = await heard(WhisperSTTService(model), speech(turn, every=10), hint(), [SleepFrame(0.3)], stop())
        assert texts(frames, TranscriptionFrame) == [turn.text]
        partial += [(text, turn.text) for text in texts(frames, InterimTranscriptionFrame)]
    misheard = [text for text, whole in partial if not whole.startswith(text)]
    assert 0.02 * len(partial) < len(misheard) < 0.3 * len(partial)


def test_a_partial_pass_waits_for_a_free_thread_and_for_its_share_of_time(model: Noting) -> None:
    may_listen = SharedWhisper.may_listen
    second = np.zeros(SAMPLE_RATE, np.float32)
    model._pace = PassPacing(0.01)
    assert may_listen(model)
    model.gate.clear()
    final = model.submit(second)
    assert not may_listen(model)
    model.gate.set()
    final.result()
    model._pace = PassPacing(0.01)
    now = time.monotonic()
    model._pace.took(now, now + 30)
    assert not may_listen(model)
