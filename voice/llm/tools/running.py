"""Tools that run for a call: how often in a turn, and what the caller hears meanwhile.

That is something true by the deadline, and again later. Each round of calls asks the model anew, and is billed.
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
"""Seconds that a tool may run before anything is said of it, if the deadline is over."""
AGAIN = 6.0
"""Seconds between two phrases while a tool runs."""
MOST_ALIKE = 3
"""How often a model may make the same call, with the same arguments: a result may change while it is waited for."""


class RunningTools:
    """The tools that run for one call."""

    def __init__(self) -> None:
        self._running: list[Traits] = []
        self._changed = asyncio.Event()

    @contextmanager
    def running(self, traits: Traits) -> Iterator[None]:
        """A tool runs while this is entered."""
        self._running.append(traits)
        try:
            yield
        finally:
            self._running.remove(traits)
            self._changed.set()

    @property
    def saying(self) -> str | None:
        """What a tool that runs wants to be said; None if none does."""
        return next((traits.saying for traits in self._running if traits.saying), None)

    async def accompany(
        self, due: float, clock: Callable[[], float], say: Callable[[str | None, bool], Awaitable[None]]
    ) -> None:
        """Say something when a tool still runs at `due`, and every `AGAIN` seconds after that, until none runs.

        Args:
            due: when, in seconds of `clock`; `AT_ONCE` from now if that is later.
            clock: seconds.
            say: says a tool's own phrase, or a general one for None; its second argument is whether it says so again.
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
