"""Keeps connections to a model's server open, so that no turn waits for one to be opened."""

import asyncio
import ipaddress
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any
from urllib.parse import urlsplit

CONNECT_WITHIN = 2.0
"""Seconds."""
log = logging.getLogger(__name__)


class WarmConnections:
    """Opens connections in the background, when a call begins and after each cancelled request, which closes its own.

    Args:
        open_one: opens a connection in the client that all calls share; returns None, or a sentence on why it failed.
        count: how many to keep open: the largest number of requests that run at the same time.
        create_task: of the service.
    """

    def __init__(
        self,
        open_one: Callable[[], Awaitable[str | None]],
        *,
        count: int,
        create_task: Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]],
    ) -> None:
        self._open_one, self._count, self._create_task = open_one, count, create_task
        self._opening: asyncio.Task[None] | None = None

    def open(self) -> None:
        """Open connections in the background."""
        if self._opening is None or self._opening.done():
            self._opening = self._create_task(self._open_all(), "open a connection")

    async def close(self, cancel_task: Callable[[asyncio.Task[None]], Awaitable[None]]) -> None:
        """End the task that opens connections."""
        if self._opening:
            await cancel_task(self._opening)

    async def _open_all(self) -> None:
        # Concurrently: one after the other, all of them would use the first connection.
        for problem in set(await asyncio.gather(*(self._open_one() for _ in range(self._count)))) - {None}:
            log.info("%s", problem)


def is_loopback(url: str) -> bool:
    """Whether a server is on this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
