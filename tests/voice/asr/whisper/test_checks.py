"""Whisper's second pass over an utterance: when it runs, and what becomes of its words."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from loguru import logger
from numpy.typing import NDArray
from pipecat.frames.frames import (
    Frame,
    InputAudioRawFrame,
    InterruptionFrame,
    STTMuteFrame,
    TranscriptionFrame,
    UserStartedSpeakingFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.tests.utils import SleepFrame, run_test

from latency.record.turn import CheckRecord
from pipelines.lab.scripted import model_folder
from voice.asr.whisper.decoding import FULL, SAMPLE_RATE, Transcript
from voice.asr.whisper.model import SharedWhisper
from voice.asr.whisper.service import WhisperSTTService
from voice.frames import CheckedTranscriptionFrame, OwnVoiceFrame, WordsCheckedFrame
from voice.inference_queue import IsWanted, WithdrawnError
from voice.second_pass import WordCheck

FIRST = Transcript("Set a timer for fifteen minutes.", -0.3)
LIKELIER, LESS_LIKELY = -0.2, -0.4
WITHIN = 30.0


@dataclass
class Second:
    """What the second pass hears, or raises, and what has been asked of it."""

    text: str | None = str(FIRST)
    likelihood: float = LIKELIER
    failure: Exception | None = None
    blocks: bool = False
    heard: list[int] = field(default_factory=list)
    began: threading.Event = field(default_factory=threading.Event)
    withdrawn: int = 0


class TwoPasses(SharedWhisper):
    second = Second()

    def transcribe(self, audio: NDArray[np.float32], **options: Any) -> Transcript:
        return FIRST

    def check(self, audio: NDArray[np.float32], *, is_wanted: IsWanted = lambda: True) -> Transcript | None:
        second = self.second
        second.heard.append(len(audio))
        second.began.set()
        while second.blocks and is_wanted():
            threading.Event().wait(0.01)
        if not is_wanted():
            second.withdrawn += 1
            raise WithdrawnError
        if second.failure is not None:
            raise second.failure
        return None if second.text is None else Transcript(second.text, second.likelihood)


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoPasses]:
    model = TwoPasses.load(model_folder.build(tmp_path_factory.mktemp("whisper"), text="Yes."))
    yield model
    model.close()


@pytest.fixture
def model(loaded: TwoPasses) -> TwoPasses:
    loaded.second = Second()
    loaded.check_seconds = 0.2
    return loaded


def audio(seconds: float = 1.0) -> list[Frame]:
    return [InputAudioRawFrame(bytes(3200), SAMPLE_RATE, 1) for _ in range(round(seconds * 10))]


def spoken() -> list[Frame]:
    return [VADUserStartedSpeakingFrame(start_secs=0.2), UserStartedSpeakingFrame(), *audio()]


def stopped(seconds: float = 0.4) -> list[Frame]:
    return [VADUserStoppedSpeakingFrame(stop_secs=0.2), SleepFrame(seconds)]


async def run(
    model: TwoPasses, frames: Sequence[Frame], *, check: WordCheck | None = None, **options: Any
) -> tuple[list[Frame], WordCheck]:
    """The frames that come out, and the call's checks, whose words arrive at once."""
    check = check or WordCheck()
    service = WhisperSTTService(
        model, **{"streaming": False, "pre_roll": 0.5, "checking": "auto", "check": check, **options}
    )

    @service.event_handler("on_after_push_frame")  # type: ignore[untyped-decorator]
    async def arrived(_: Any, frame: Frame) -> None:
        if isinstance(frame, CheckedTranscriptionFrame):
            check.end(frame.check)

    down, _ = await run_test(service, frames_to_send=frames, start_timeout=WITHIN)
    return list(down), check


def records(down: Sequence[Frame]) -> list[CheckRecord]:
    return [frame.record for frame in down if isinstance(frame, WordsCheckedFrame)]


def corrections(down: Sequence[Frame]) -> list[str]:
    return [frame.text for frame in down if isinstance(frame, CheckedTranscriptionFrame)]


async def test_the_same_words_change_nothing_and_are_reported(model: TwoPasses) -> None:
    model.second.text = "set a timer for 15 minutes"
    down, check = await run(model, [*spoken(), *stopped()])
    assert corrections(down) == []
    (record,) = records(down)
    assert (record.outcome, record.before, record.after) == ("same", None, None)
    assert record.seconds is not None
    assert not check.is_pending
    (length,) = model.second.heard
    assert length >= SAMPLE_RATE


async def test_other_words_that_matter_follow_the_first_ones(model: TwoPasses) -> None:
    model.second.text = "Set a timer for fifty minutes."
    down, check = await run(model, [*spoken(), *stopped()])
    texts = [(type(frame), frame.text) for frame in down if isinstance(frame, TranscriptionFrame)]
    assert texts == [
        (TranscriptionFrame, "Set a timer for fifteen minutes."),
        (CheckedTranscriptionFrame, "Set a timer for fifty minutes."),
    ]
    assert all(type(text) is str for _, text in texts)
    (record,) = records(down)
    assert (record.outcome, record.before, record.after) == ("changed", "fifteen", "fifty")
    assert not check.is_pending


@pytest.mark.parametrize(("text", "likelihood"), [("Set a timer.", LESS_LIKELY), (None, LIKELIER), ("", LIKELIER)])
async def test_unlikely_wrong_and_missing_words_do_not_count(
    model: TwoPasses, text: str | None, likelihood: float
) -> None:
    model.second.text, model.second.likelihood = text, likelihood
    down, _ = await run(model, [*spoken(), *stopped()])
    assert corrections(down) == []
    assert [record.outcome for record in records(down)] == ["same"]


async def test_if_the_second_pass_fails_the_first_words_stand_and_the_log_says_so(model: TwoPasses) -> None:
    model.second.failure = RuntimeError("out of memory")
    told: list[str] = []
    sink = logger.add(lambda message: told.append(str(message)), level="WARNING")
    down, check = await run(model, [*spoken(), *stopped(), *spoken(), *stopped()])
    logger.remove(sink)
    assert corrections(down) == []
    assert [record.outcome for record in records(down)] == ["failed", "failed"]
    assert any("out of memory" in line for line in told)
    assert not check.is_pending


@pytest.mark.parametrize(
    "event",
    [
        VADUserStartedSpeakingFrame(start_secs=0.2),
        STTMuteFrame(mute=True),
        InterruptionFrame(),
        OwnVoiceFrame(text="x"),
    ],
    ids=lambda event: type(event).__name__,
)
async def test_a_check_that_nobody_waits_for_is_withdrawn(model: TwoPasses, event: Frame) -> None:
    model.second.blocks = True
    down, check = await run(model, [*spoken(), *stopped(0.2), event, SleepFrame(0.2)])
    assert corrections(down) == []
    assert [record.outcome for record in records(down)] == ["withdrawn"]
    assert not check.is_pending
    assert model.second.withdrawn == 1


async def test_a_check_gives_way_to_the_pass_of_another_call(model: TwoPasses) -> None:
    model.second.blocks = True

    def other() -> None:
        assert model.second.began.wait(WITHIN)
        model.submit(np.zeros(SAMPLE_RATE, np.float32)).result(WITHIN)

    caller = threading.Thread(target=other)
    caller.start()
    down, check = await run(model, [*spoken(), *stopped()])
    caller.join(WITHIN)
    assert [record.outcome for record in records(down)] == ["shed"]
    assert not check.is_pending


async def test_the_end_of_the_call_withdraws_the_check(model: TwoPasses) -> None:
    model.second.blocks = True
    _, check = await run(model, [*spoken(), *stopped(0.1)])
    assert not check.is_pending


@pytest.mark.parametrize(
    ("checking", "thinks", "checks"),
    [("auto", 0.5, 1), ("auto", 0.1, 0), ("auto", None, 1), ("on", 0.1, 1), ("off", 0.5, 0)],
)
async def test_words_are_checked_if_that_pays_or_is_wanted(
    model: TwoPasses, checking: str, thinks: float | None, checks: int
) -> None:
    await run(model, [*spoken(), *stopped()], check=WordCheck(thinks=lambda: thinks), checking=checking)
    assert len(model.second.heard) == checks


async def test_speech_that_is_no_turn_is_not_checked(model: TwoPasses) -> None:
    await run(model, [VADUserStartedSpeakingFrame(start_secs=0.2), *audio(), *stopped()])
    assert model.second.heard == []


async def test_corrected_words_that_do_not_arrive_hold_nothing_back(model: TwoPasses) -> None:
    model.second.text = "Set a timer for fifty minutes."
    check = WordCheck()
    service = WhisperSTTService(model, streaming=False, pre_roll=0.5, checking="on", check=check)
    down, _ = await run_test(service, frames_to_send=[*spoken(), *stopped(1.6)], start_timeout=WITHIN)
    assert not check.is_pending
    assert [record.outcome for record in records(list(down))] == ["withdrawn"]


def test_a_check_that_was_slow_once_is_tried_again(model: TwoPasses) -> None:
    for _ in range(40):
        model._check_took(2.0)
    slow = model.check_seconds
    assert slow is not None
    assert slow == pytest.approx(2.0, abs=0.01)
    model._check_took(1.0, at_least=True)
    assert model.check_seconds == slow
    for _ in range(80):
        model.skip_check()
    assert model.check_seconds < 0.2


def test_a_model_of_whole_windows_has_nothing_to_check(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = model_folder.build(tmp_path_factory.mktemp("whisper"), text="Yes.")
    model = SharedWhisper.load(folder, decoding=FULL)
    assert model.check_seconds is None
    model.close()
