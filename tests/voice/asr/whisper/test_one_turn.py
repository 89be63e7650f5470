"""Whisper over a turn with pauses: which audio its passes hear together, and what becomes of the earlier texts."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pipecat.frames.frames import (
    EagerTranscriptionFrame,
    Frame,
    InputAudioRawFrame,
    STTMuteFrame,
    TranscriptionFrame,
    UserStartedSpeakingFrame,
    UserStoppedSpeakingFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.tests.utils import SleepFrame, run_test

from pipelines.lab.scripted import model_folder
from voice.asr.whisper.decoding import PASS_SECONDS, SAMPLE_RATE
from voice.asr.whisper.model import SharedWhisper
from voice.asr.whisper.service import WhisperSTTService
from voice.frames import (
    EagerHintFrame,
    NothingHeardFrame,
    OwnVoiceFrame,
    RevisedEagerTranscriptionFrame,
    RevisedTranscriptionFrame,
)

Texts = (TranscriptionFrame, NothingHeardFrame)


class Measuring(SharedWhisper):
    """Its texts say how many seconds a pass heard; `texts` come first, one for each final pass."""

    texts: Sequence[str] = ()

    def transcribe(self, audio: NDArray[np.float32], **options: Any) -> str:
        if self.texts:
            text, *self.texts = self.texts
            return text
        return f"{len(audio) / SAMPLE_RATE:.1f} s"


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measuring]:
    model = Measuring.load(model_folder.build(tmp_path_factory.mktemp("whisper"), text="Yes."))
    yield model
    model.close()


@pytest.fixture
def model(loaded: Measuring) -> Measuring:
    loaded.texts = ()
    return loaded


def audio(seconds: float) -> list[Frame]:
    """Audio in frames of 0.1 s."""
    return [InputAudioRawFrame(bytes(3200), SAMPLE_RATE, 1) for _ in range(round(seconds * 10))]


def spoken(seconds: float) -> list[Frame]:
    """A stretch of speech, and time for its text."""
    stop: list[Frame] = [VADUserStoppedSpeakingFrame(stop_secs=0.2), SleepFrame(0.3)]
    return [VADUserStartedSpeakingFrame(start_secs=0.2), *audio(seconds), *stop]


def turn(*stretches: Sequence[Frame]) -> list[Frame]:
    """A turn; as in a call, it begins after the first report of speech, and is committed after the last text."""
    first, *rest = [frame for stretch in stretches for frame in stretch]
    return [first, UserStartedSpeakingFrame(), *rest, UserStoppedSpeakingFrame()]


async def heard(model: SharedWhisper, *frames: Sequence[Frame]) -> list[tuple[type[Frame], str]]:
    """The outcome of each stretch of speech."""
    service = WhisperSTTService(model, streaming=False, pre_roll=0.5)
    down, _ = await run_test(service, frames_to_send=[f for part in frames for f in part], start_timeout=30.0)
    return [(type(frame), getattr(frame, "text", "")) for frame in down if isinstance(frame, Texts)]


async def test_the_stretches_of_a_turn_are_heard_together_with_the_silence_between_them(model: Measuring) -> None:
    assert await heard(model, turn(spoken(1.0), audio(0.8), spoken(0.6), audio(1.0), spoken(0.5))) == [
        (TranscriptionFrame, "1.0 s"),
        (RevisedTranscriptionFrame, "2.4 s"),
        (RevisedTranscriptionFrame, "3.9 s"),
    ]


async def test_a_new_turn_contains_nothing_of_the_one_before(model: Measuring) -> None:
    frames = [*turn(spoken(1.0)), *audio(0.2), *turn(spoken(0.6), audio(0.3), spoken(1.0))]
    assert await heard(model, frames) == [
        (TranscriptionFrame, "1.0 s"),
        (TranscriptionFrame, "0.8 s"),
        (RevisedTranscriptionFrame, "2.1 s"),
    ]


async def test_speech_that_was_no_turn_is_not_heard_again_in_the_next_one(model: Measuring) -> None:
    assert await heard(model, spoken(1.0), turn(spoken(0.6))) == [
        (TranscriptionFrame, "1.0 s"),
        (TranscriptionFrame, "0.6 s"),
    ]


async def test_speech_whose_words_began_the_turn_belongs_to_it(model: Measuring) -> None:
    frames = [*spoken(1.0), UserStartedSpeakingFrame(), *spoken(0.6), UserStoppedSpeakingFrame()]
    assert await heard(model, frames) == [(TranscriptionFrame, "1.0 s"), (RevisedTranscriptionFrame, "1.6 s")]


async def test_what_no_longer_fits_one_pass_is_a_text_of_its_own(model: Measuring) -> None:
    long = PASS_SECONDS - 1
    assert await heard(model, turn(spoken(long), spoken(1.0), spoken(2.0), spoken(0.5))) == [
        (TranscriptionFrame, "29.0 s"),
        (RevisedTranscriptionFrame, "30.0 s"),
        (TranscriptionFrame, "2.0 s"),
        (RevisedTranscriptionFrame, "2.5 s"),
    ]


async def test_a_stretch_without_words_is_not_heard_again(model: Measuring) -> None:
    model.texts = ["one", ""]
    assert await heard(model, turn(spoken(1.0), spoken(0.5), spoken(2.0))) == [
        (TranscriptionFrame, "one"),
        (NothingHeardFrame, ""),
        (TranscriptionFrame, "2.0 s"),
    ]


async def test_the_agents_own_voice_is_not_heard_again(model: Measuring) -> None:
    own = OwnVoiceFrame(text="1.0 s")
    assert await heard(model, turn(spoken(1.0), [own], spoken(0.5), spoken(0.5))) == [
        (TranscriptionFrame, "1.0 s"),
        (TranscriptionFrame, "0.5 s"),
        (RevisedTranscriptionFrame, "1.0 s"),
    ]


async def test_what_was_said_before_muting_is_not_heard_again(model: Measuring) -> None:
    muted: list[Frame] = [STTMuteFrame(mute=True), *audio(0.4), STTMuteFrame(mute=False)]
    assert await heard(model, turn(spoken(1.0), muted, spoken(0.6))) == [
        (TranscriptionFrame, "1.0 s"),
        (TranscriptionFrame, "0.6 s"),
    ]


async def test_a_commit_that_comes_after_the_next_speech_began_leaves_it_only_its_own_audio(model: Measuring) -> None:
    start: list[Frame] = [VADUserStartedSpeakingFrame(start_secs=0.2), *audio(0.3)]
    late: list[Frame] = [UserStoppedSpeakingFrame(), UserStartedSpeakingFrame()]
    first = [*turn(spoken(1.0))[:-1], *audio(2.0)]
    end: list[Frame] = [*audio(0.4), VADUserStoppedSpeakingFrame(stop_secs=0.2)]
    assert await heard(model, first, start, late, end) == [
        (TranscriptionFrame, "1.0 s"),
        (TranscriptionFrame, "1.2 s"),  # half a second of pre-roll
    ]


async def test_an_eager_text_is_that_of_the_whole_turn_too(model: Measuring) -> None:
    hint: list[Frame] = [EagerHintFrame(silence=0.1), SleepFrame(0.3), *spoken(0.0)[1:]]
    frames = turn(spoken(1.0), spoken(0.6)[:-2], hint)
    down, _ = await run_test(WhisperSTTService(model, streaming=False), frames_to_send=frames, start_timeout=30.0)
    said = [f for f in down if isinstance(f, EagerTranscriptionFrame | TranscriptionFrame)]
    assert [(type(frame), frame.text) for frame in said] == [
        (TranscriptionFrame, "1.0 s"),
        (RevisedEagerTranscriptionFrame, "1.6 s"),
        (RevisedTranscriptionFrame, "1.6 s"),
    ]


async def test_a_text_that_comes_after_the_commit_repeats_nothing_that_was_committed(model: Measuring) -> None:
    assert await heard(model, turn(spoken(1.0), spoken(0.6)[:-1])) == [
        (TranscriptionFrame, "1.0 s"),
        (TranscriptionFrame, "0.6 s"),
    ]
