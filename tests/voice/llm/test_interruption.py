"""The model is told that an answer was interrupted."""

from typing import Any

import pytest
from pipecat.frames.frames import InterruptionFrame, LLMFullResponseEndFrame, LLMFullResponseStartFrame, LLMTextFrame
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.tests.utils import SleepFrame, run_test

from voice.llm.interruption import BROKEN_OFF, mark, mark_interruptions


@pytest.mark.parametrize(("end", "kept"), [(InterruptionFrame, f"There are{BROKEN_OFF}"), (None, "There are")])
async def test_only_an_interrupted_answer_is_marked(end: Any, kept: str) -> None:
    context = LLMContext([{"role": "user", "content": "which trains are there"}])
    assistant = LLMContextAggregatorPair(context).assistant()
    mark_interruptions(assistant, context)
    frames = [LLMFullResponseStartFrame(), LLMTextFrame("There are"), SleepFrame(sleep=0.05)]
    await run_test(assistant, frames_to_send=[*frames, (end or LLMFullResponseEndFrame)(), SleepFrame(sleep=0.05)])
    last: Any = context.get_messages()[-1]
    assert last["content"] == kept


def test_the_latest_of_two_equal_answers_is_marked_and_no_other_words_are() -> None:
    said: Any = [{"role": "assistant", "content": "Yes."}, {"role": "user", "content": "Yes."}]
    context = LLMContext([*said, {"role": "assistant", "content": "Yes."}])
    assert mark(context, "Yes.")
    texts = [message["content"] for message in context.get_messages()]  # type: ignore[index,typeddict-item]
    assert texts == ["Yes.", "Yes.", f"Yes.{BROKEN_OFF}"]
    assert not mark(context, "No.")
