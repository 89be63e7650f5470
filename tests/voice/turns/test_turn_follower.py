"""Each frame counts once, and is the event that it stands for."""

from typing import Any

import pytest
from pipecat.frames.frames import (
    AggregatedTextFrame,
    Frame,
    FunctionCallInProgressFrame,
    FunctionCallResultFrame,
    LLMContextFrame,
    LLMTextFrame,
    TTSAudioRawFrame,
    TTSSpeakFrame,
    TTSTextFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.observers.base_observer import FramePushed
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.filters.identity_filter import IdentityFilter
from pipecat.processors.frame_processor import FrameDirection
from pipecat.services.llm_service import LLMService

from voice.frames import (
    HOLD_PHRASE,
    AnswerTextFrame,
    HangReasonFrame,
    LLMFailureFrame,
    NothingHeardFrame,
    OwnVoiceFrame,
    RevisedTranscriptionFrame,
    ToolCalledFrame,
)
from voice.turns.turn_follower import TOOL, TurnFollower

DOWN, UP = FrameDirection.DOWNSTREAM, FrameDirection.UPSTREAM
CALL = {"function_name": "weather", "tool_call_id": "1", "arguments": {}}


class Told(TurnFollower[tuple[Any, ...]]):
    """Returns each event with what it tells."""

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("_") or name in ("see", "follow"):
            return super().__getattribute__(name)
        return lambda now, *args, **known: (name, *args, *known.values())


def spoken(kind: str) -> AggregatedTextFrame:
    frame = AggregatedTextFrame("One moment.", kind)
    frame.will_be_spoken, frame.context_id = True, "a"
    return frame


@pytest.mark.parametrize(
    ("frame", "event"),
    [
        (VADUserStoppedSpeakingFrame(stop_secs=0.2), ("speech_stopped", 0.2)),
        (RevisedTranscriptionFrame("stop", "", "", finalized=True), ("heard", "stop", True, True)),
        (NothingHeardFrame(), ("heard_nothing",)),
        (OwnVoiceFrame(final=True), ("heard_nothing",)),
        (OwnVoiceFrame(final=False), None),
        (LLMContextFrame(LLMContext()), ("asked",)),
        (LLMContextFrame(LLMContext(), speculation=True), ("asked_ahead",)),
        (LLMTextFrame("It is noon."), ("text_came", 0)),
        (AnswerTextFrame("It is noon.", clauses=("It is noon.",)), ("text_came", 1)),
        (LLMFailureFrame("Sorry.", clauses=("Sorry.",), reason="it is down"), ("model_failed", "it is down", 1)),
        (FunctionCallInProgressFrame(**CALL, cancel_on_interruption=False), ("tool_began", "1", False)),
        (FunctionCallResultFrame(**CALL, result="sun"), ("tool_ended", "1", True)),
        (FunctionCallResultFrame(**CALL, result="sun", run_llm=False), ("tool_ended", "1", False)),
        (ToolCalledFrame(), ("tool_began", TOOL)),
        (TTSSpeakFrame("Hello."), ("to_speak", False)),
        (HangReasonFrame("Sorry."), ("to_speak", True)),
        (spoken("sentence"), ("speech_begun", "One moment.", "a", True)),
        (spoken(HOLD_PHRASE), ("speech_begun", "One moment.", "a", False)),
        (TTSTextFrame("One", "word"), None),
        (TTSAudioRawFrame(bytes(3200), 16000, 1, context_id="a"), ("speech_made", 0.1, "a")),
    ],
)
def test_a_frame_is_an_event(frame: Frame, event: tuple[Any, ...] | None) -> None:
    assert Told().follow(frame, 1.0) == event


@pytest.mark.parametrize(
    ("frame", "destination", "direction", "told"),
    [
        (VADUserStoppedSpeakingFrame(), IdentityFilter, DOWN, True),
        (VADUserStoppedSpeakingFrame(), IdentityFilter, UP, False),
        (LLMContextFrame(LLMContext()), LLMService, DOWN, True),
        (LLMContextFrame(LLMContext()), IdentityFilter, DOWN, False),
        (LLMContextFrame(LLMContext()), IdentityFilter, UP, True),
    ],
)
async def test_a_frame_counts_once(frame: Frame, destination: type, direction: FrameDirection, told: bool) -> None:
    pushed = FramePushed(IdentityFilter(), destination(), frame, direction, timestamp=1)
    assert (Told().see(pushed) is not None) is told
