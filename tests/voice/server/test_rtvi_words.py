"""What a client is told of the words of a turn: final once, when the turn is committed."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from pipecat.frames.frames import (
    Frame,
    TranscriptionFrame,
    UserStartedSpeakingFrame,
    UserStoppedSpeakingFrame,
)
from pipecat.observers.base_observer import FramePushed
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

from voice.frames import RevisedTranscriptionFrame
from voice.server.rtvi import CallRTVI

Tell = Callable[..., Awaitable[list[Any]]]


@pytest.fixture
async def told(monkeypatch: pytest.MonkeyPatch) -> Tell:
    """Tells the observer of frames; returns the messages about words and turns, (text, final)."""
    observer = CallRTVI().create_rtvi_observer()
    messages: list[Any] = []

    async def send(message: Any, **_: Any) -> None:
        messages.append(message)

    monkeypatch.setattr(observer, "send_rtvi_message", send)
    source = FrameProcessor()

    async def tell(*frames: Frame) -> list[Any]:
        messages.clear()
        for frame in frames:
            await observer.on_push_frame(FramePushed(source, source, frame, FrameDirection.DOWNSTREAM, 0))
        transcripts = [m for m in messages if m.type.startswith("user-") and m.type != "user-input"]
        return [(m.data.text, m.data.final) if m.type == "user-transcription" else m.type for m in transcripts]

    return tell


def text(words: str, *, revised: bool = False) -> TranscriptionFrame:
    return (RevisedTranscriptionFrame if revised else TranscriptionFrame)(words, "", "", finalized=True)


async def test_a_text_that_is_revised_was_not_final(told: Tell) -> None:
    turn = [text("What is 20%?"), text("What is 20% of 50?", revised=True)]
    assert await told(UserStartedSpeakingFrame(), *turn, UserStoppedSpeakingFrame()) == [
        "user-started-speaking",
        ("What is 20%?", False),
        ("What is 20% of 50?", False),
        ("What is 20% of 50?", True),
        "user-stopped-speaking",
    ]


async def test_texts_of_a_turn_are_one_final_text_and_the_next_turn_has_its_own(told: Tell) -> None:
    await told(UserStartedSpeakingFrame(), text("set a timer"), text("for ten"), UserStoppedSpeakingFrame())
    assert await told(UserStartedSpeakingFrame(), text("stop"), UserStoppedSpeakingFrame()) == [
        "user-started-speaking",
        ("stop", False),
        ("stop", True),
        "user-stopped-speaking",
    ]


async def test_a_turn_without_words_has_no_text(told: Tell) -> None:
    assert await told(UserStartedSpeakingFrame(), UserStoppedSpeakingFrame()) == [
        "user-started-speaking",
        "user-stopped-speaking",
    ]


async def test_words_outside_a_turn_are_final_at_once(told: Tell) -> None:
    assert await told(text("yeah")) == [("yeah", True)]
