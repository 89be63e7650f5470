"""Only the first clause of a turn's answer is measured, and only where nothing was spoken before it."""

import pytest
from pipecat.frames.frames import (
    AggregatedTextFrame,
    Frame,
    LLMContextFrame,
    TTSAudioRawFrame,
    UserStartedSpeakingFrame,
)
from pipecat.processors.aggregators.llm_context import LLMContext

from pipelines.call_log.turn_log import TurnLog
from voice.frames import HOLD_PHRASE, LLMFailureFrame


def clause(context: str, kind: str = "sentence") -> AggregatedTextFrame:
    frame = AggregatedTextFrame("It is ten.", kind)
    frame.context_id, frame.will_be_spoken = context, True
    return frame


def audio(context: str) -> TTSAudioRawFrame:
    return TTSAudioRawFrame(b"", 16000, 1, context_id=context)


STARTED, ASKED = UserStartedSpeakingFrame(), LLMContextFrame(LLMContext())


@pytest.mark.parametrize(
    ("frames", "measured"),
    [
        pytest.param([STARTED, ASKED, clause("a"), audio("a"), audio("a")], [1.0], id="an answer"),
        pytest.param([STARTED, ASKED, clause("a"), clause("a"), audio("a")], [2.0], id="its first clause"),
        pytest.param([STARTED, clause("timer"), audio("timer")], [], id="speech that answers no request"),
        pytest.param(
            [STARTED, ASKED, clause("h", HOLD_PHRASE), audio("h"), clause("a"), audio("a")], [], id="a phrase"
        ),
        pytest.param([STARTED, ASKED, LLMFailureFrame("Sorry."), clause("a"), audio("a")], [], id="an apology"),
        pytest.param(
            [STARTED, ASKED, clause("a"), audio("a"), ASKED, clause("b"), audio("b")], [1.0], id="once a turn"
        ),
        pytest.param(
            [STARTED, ASKED, clause("a"), audio("a"), STARTED, ASKED, clause("b"), audio("b")],
            [1.0, 1.0],
            id="two turns",
        ),
    ],
)
def test_the_time_from_the_first_clause_to_its_first_sample_is_measured(
    frames: list[Frame], measured: list[float]
) -> None:
    found: list[float] = []
    log = TurnLog(tier="responder", synthesised=found.append)
    for at, frame in enumerate(frames):
        log.follow(frame, float(at))
    assert found == measured
