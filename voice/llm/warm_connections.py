"""Keeps connections to a model's server open, so that no turn waits for one to be opened."""

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import httpx2
from pipecat.utils.http import connection_limits

from voice.environment import proxy_for

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


def http_client(url: str) -> httpx2.AsyncClient:
    """A client for one server, whose open connections all calls share; an SDK takes it in place of its own.

    It follows no redirect, unlike the SDKs' own clients, which also fail on values of NO_PROXY that others understand.

    Raises:
        ConfigurationError, ComponentError: as `proxy_for`.
    """
    limits = connection_limits(max_keepalive_connections=100, max_connections=1000, keepalive_expiry=None)
    options = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    # Where the system has these: a connection that idles is kept open by what stands between, too.
    for name, value in (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 60), ("TCP_KEEPCNT", 5)):
        if (option := getattr(socket, name, None)) is not None:
            options.append((socket.IPPROTO_TCP, option, value))
    transport = httpx2.AsyncHTTPTransport(limits=limits, proxy=proxy_for(url), socket_options=options)
    return httpx2.AsyncClient(transport=transport)
