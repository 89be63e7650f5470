"""Bounds on how often a model calls tools in one turn: each time it is asked anew, and billed. Pure."""

import json
from collections import Counter
from collections.abc import Sequence

from pipecat.frames.frames import FunctionCallFromLLM

from voice.llm import TOOL_ROUNDS

MOST_ALIKE = 3
"""How often it may make the same call, with the same arguments: a result may change while it is waited for."""


class ToolRounds:
    """Counts the tool calls of a turn.

    Args:
        most: how often a model may call tools, however many at a time.
    """

    def __init__(self, most: int = TOOL_ROUNDS) -> None:
        self._most = most
        self._rounds = 0
        self._made: Counter[tuple[str, str]] = Counter()

    def begin_turn(self) -> None:
        """Another turn begins."""
        self._rounds = 0
        self._made.clear()

    def objection(self, calls: Sequence[FunctionCallFromLLM]) -> str | None:
        """Why these calls are not run; None when they are, and count."""
        self._rounds += 1
        if self._rounds > self._most:
            return f"the model wanted to call tools more than {self._most} times in a turn"
        made = Counter((call.function_name, json.dumps(call.arguments, sort_keys=True, default=str)) for call in calls)
        self._made += made
        repeated = next((name for name, arguments in made if self._made[name, arguments] > MOST_ALIKE), None)
        return repeated and f"the model called {repeated} more than {MOST_ALIKE} times with the same arguments"
