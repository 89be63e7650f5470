"""The caller's audio ends at the user aggregator, unless a part behind it listens."""

import pytest
from pipecat.frames.frames import Frame, InputAudioRawFrame, TextFrame
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMUserAggregatorParams
from pipecat.tests.utils import run_test

from voice.llm.joining import JoiningUserAggregator

SOUND = {"audio": bytes(1024), "sample_rate": 16000, "num_channels": 1}


@pytest.mark.parametrize("passes", [False, True])
async def test_audio_is_passed_on_only_if_somebody_listens(passes: bool) -> None:
    user = JoiningUserAggregator(LLMContext(), params=LLMUserAggregatorParams(), passes_audio=passes)
    sent: list[Frame] = [InputAudioRawFrame(**SOUND), TextFrame("hello")]
    down, _ = await run_test(user, frames_to_send=sent)
    assert any(isinstance(frame, InputAudioRawFrame) for frame in down) is passes
    assert any(isinstance(frame, TextFrame) for frame in down)
