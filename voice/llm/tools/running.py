"""The tools that run for a call: limits per turn, and the phrases for the wait.

The caller hears a true phrase by the deadline, and again later. Each round of calls is a new, billed request.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager

from pipecat.frames.frames import FunctionCallFromLLM

from voice.llm import TOOL_ROUNDS
from voice.llm.tools.tool import Traits

AT_ONCE = 0.1
"""Seconds that a tool may run before the first phrase, if the deadline has passed."""
AGAIN = 6.0
"""Seconds between two phrases while a tool runs."""
MOST_ALIKE = 3
"""The most identical calls, with the same arguments: a result may change in the meantime."""


class RunningTools:
    """The tools that run for one call."""

    def __init__(self) -> None:
        self._running: list[Traits] = []
        self._changed = asyncio.Event()

    @contextmanager
    def running(self, traits: Traits) -> Iterator[None]:
        """Mark a tool as running inside this context."""
        self._running.append(traits)
        try:
            yield
        finally:
            self._running.remove(traits)
            self._changed.set()

    @property
    def saying(self) -> str | None:
        """The phrase that a running tool asks for; None without one."""
        return next((traits.saying for traits in self._running if traits.saying), None)

    async def accompany(
        self, due: float, clock: Callable[[], float], say: Callable[[str | None, bool], Awaitable[None]]
    ) -> None:
        """Say a phrase if a tool still runs at `due`, and then every `AGAIN` seconds until none runs.

        Args:
            due: when, in seconds of `clock`; `AT_ONCE` from now if that is later.
            clock: seconds.
            say: says a tool's own phrase, or a general one for None; its second argument is whether it is a repetition.
        """
        due, again = max(due, clock() + AT_ONCE), False
        while True:
            while (left := due - clock()) > 0:
                self._changed.clear()
                try:
                    async with asyncio.timeout(left):
                        await self._changed.wait()
                except TimeoutError:
                    break
                if not self._running:
                    return
            if not self._running:
                return
            await say(None if again else self.saying, again)
            due, again = clock() + AGAIN, True


class ToolRounds:
    """Counts the tool calls of a turn.

    Args:
        most: the most rounds of calls, with any number of calls in each.
    """

    def __init__(self, most: int = TOOL_ROUNDS) -> None:
        self._most = most
        self._rounds = 0
        self._made: Counter[tuple[str, str]] = Counter()

    def begin_turn(self) -> None:
        """Begin another turn."""
        self._rounds = 0
        self._made.clear()

    def objection(self, calls: Sequence[FunctionCallFromLLM]) -> str | None:
        """Why these calls may not run; None if they may, in which case they are counted."""
        self._rounds += 1
        if self._rounds > self._most:
            return f"the model wanted to call tools more than {self._most} times in a turn"
        made = Counter((call.function_name, json.dumps(call.arguments, sort_keys=True, default=str)) for call in calls)
        self._made += made
        repeated = next((name for name, arguments in made if self._made[name, arguments] > MOST_ALIKE), None)
        return repeated and f"the model called {repeated} more than {MOST_ALIKE} times with the same arguments"
