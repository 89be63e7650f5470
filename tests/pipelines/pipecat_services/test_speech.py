"""A recogniser from outside is followed by what says when its words are complete."""

from typing import Any

from pipecat.frames.frames import (
    STTMetadataFrame,
    TranscriptionFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.tests.utils import SleepFrame, run_test

from pipelines.pipecat_services import speech
from pipelines.pipecat_services.speech import TranscriptEnd
from voice.frames import NothingHeardFrame

SPOKEN = (VADUserStartedSpeakingFrame(), VADUserStoppedSpeakingFrame(stop_secs=0.0))


def words(*, finalized: bool) -> TranscriptionFrame:
    return TranscriptionFrame("hello", "user", "now", finalized=finalized)


async def heard(*frames: Any, latency: float = 0.3) -> list[str]:
    """The kinds of frames that follow, in order."""
    metadata = STTMetadataFrame(service_name="stt", ttfs_p99_latency=latency)
    down, _ = await run_test(TranscriptEnd(), frames_to_send=[metadata, *frames])
    return [type(frame).__name__ for frame in down if isinstance(frame, TranscriptionFrame | NothingHeardFrame)]


async def test_words_marked_as_the_last_ones_need_nothing_more() -> None:
    assert await heard(*SPOKEN, SleepFrame(0.05), words(finalized=True), SleepFrame(0.5)) == ["TranscriptionFrame"]


async def test_other_words_are_complete_when_the_recognisers_time_is_over() -> None:
    assert await heard(*SPOKEN, SleepFrame(0.05), words(finalized=False), SleepFrame(0.6)) == [
        "TranscriptionFrame",
        "NothingHeardFrame",
    ]


async def test_an_utterance_without_a_transcript_ends_too(monkeypatch: Any) -> None:
    monkeypatch.setattr(speech, "NO_WORDS", 0.2)
    assert await heard(*SPOKEN, SleepFrame(0.7), latency=0.1) == ["NothingHeardFrame"]


async def test_a_user_who_goes_on_is_waited_for() -> None:
    again = VADUserStartedSpeakingFrame()
    assert await heard(*SPOKEN, words(finalized=False), again, SleepFrame(0.6)) == ["TranscriptionFrame"]
