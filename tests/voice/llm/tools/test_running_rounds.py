"""A model that keeps calling tools is stopped; one that needs several is not."""

from typing import Any

from pipecat.frames.frames import FunctionCallFromLLM
from pipecat.processors.aggregators.llm_context import LLMContext

from voice.llm.tools.running import MOST_ALIKE, ToolRounds


def call(name: str = "look", **arguments: Any) -> FunctionCallFromLLM:
    return FunctionCallFromLLM(function_name=name, tool_call_id="1", arguments=arguments, context=LLMContext())


def test_different_calls_run_until_the_rounds_are_used_up() -> None:
    rounds = ToolRounds(2)
    assert rounds.objection([call(at=1), call(at=2), call(at=3)]) is None
    assert rounds.objection([call(at=4)]) is None
    assert rounds.objection([call(at=5)]) == "the model wanted to call tools more than 2 times in a turn"


def test_the_same_call_runs_three_times_however_its_arguments_are_ordered() -> None:
    rounds = ToolRounds()
    for _ in range(MOST_ALIKE):
        assert rounds.objection([call(a=1, b=2), call("other", a=1)]) is None
    assert rounds.objection([call(b=2, a=1)]) == "the model called look more than 3 times with the same arguments"


def test_another_turn_begins_anew() -> None:
    rounds = ToolRounds(1)
    assert rounds.objection([call()]) is None
    rounds.begin_turn()
    assert rounds.objection([call()]) is None
