"""Tools that run for a call, and what the caller hears meanwhile: something true by the deadline, and again later."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from voice.llm.tools.tool import Traits

AT_ONCE = 0.1
"""Seconds that a tool may run before anything is said of it, if the deadline is over."""
AGAIN = 6.0
"""Seconds between two phrases while a tool runs."""


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
