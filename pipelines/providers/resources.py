"""Resources that tiers of a pipeline share, such as the simulator's process: opened once, closed with the pipeline."""

import asyncio
from collections.abc import Callable, Hashable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any, TypeVar, cast

T = TypeVar("T")


class Resources:
    """Opens each resource for the first tier that asks for it and closes them all together."""

    def __init__(self) -> None:
        self._stack = AsyncExitStack()
        self._opening = asyncio.Lock()
        self._opened: dict[Hashable, Any] = {}

    async def open(self, key: Hashable, make: Callable[[], AbstractAsyncContextManager[T]]) -> T:
        """The resource that `make` gives, opened once for each key.

        Raises:
            VoiceError: as the resource does when it cannot be opened.
        """
        async with self._opening:
            if key not in self._opened:
                self._opened[key] = await self._stack.enter_async_context(make())
            return cast(T, self._opened[key])

    async def close(self) -> None:
        """Close everything, the last one first."""
        self._opened.clear()
        await self._stack.aclose()
