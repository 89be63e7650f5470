"""Keeps connections to a model's server open, so that no turn waits for one to open."""

import asyncio
import logging
import socket
from functools import partial
from typing import Any

import httpx2
from pipecat.frames.frames import StartFrame
from pipecat.services.llm_service import LLMService
from pipecat.utils.http import connection_limits

from voice.environment import proxy_for
from voice.llm.wires.errors import is_sdk_error, reason

OPENAI, ANTHROPIC = "https://api.openai.com/v1", "https://api.anthropic.com"
CONNECT_WITHIN = 2.0
"""Seconds."""
log = logging.getLogger(__name__)


class WarmService(LLMService[Any]):
    """A service that keeps connections to its model's server open.

    They are opened in the background when the call begins, since the server may have closed idle ones, and after a
    cancelled request, which closes its own.
    """

    _opening: asyncio.Task[None] | None = None

    def keep_warm(self, client: Any, *, model: str, where: str, connections: int) -> None:
        """Set the connections to keep open, before the call begins.

        Args:
            client: that of OpenAI's or Anthropic's SDK, which all calls share.
            model: its name on the server.
            where: how the report names the server.
            connections: how many to keep open: the largest number of requests that run at the same time.
        """
        self._warm_one = partial(warm_up, client, model=model, where=where)
        self._connections = connections

    def open_connections(self) -> None:
        """Open connections in the background."""
        if self._opening is None or self._opening.done():
            self._opening = self.create_task(self._open_all(), "open a connection")

    async def start(self, frame: StartFrame) -> None:
        """Open connections."""
        await super().start(frame)
        self.open_connections()

    async def cleanup(self) -> None:
        """End the task that opens connections."""
        if self._opening:
            await self.cancel_task(self._opening)
        await super().cleanup()  # type: ignore[no-untyped-call]  # pipecat leaves it unannotated

    async def _open_all(self) -> None:
        # Concurrently: in sequence, all requests would use the first connection.
        for problem in set(await asyncio.gather(*(self._warm_one() for _ in range(self._connections)))) - {None}:
            log.info("%s", problem)


async def warm_up(client: Any, *, model: str, where: str) -> str | None:
    """Open a connection; returns None, or one sentence on a failure, which may be temporary.

    Args:
        client: that of OpenAI's or Anthropic's SDK.
    """
    try:
        await client.with_options(timeout=CONNECT_WITHIN).models.list()
    except Exception as error:
        if is_sdk_error(error, "APIStatusError"):
            # The server has answered. Not every server lists its models, and the first request checks the key.
            return None
        if not isinstance(error, ValueError) and not is_sdk_error(error, "APIError"):
            raise
        return reason(error, model=model, where=where)
    return None


def sdk_options(*, silence: float, url: str) -> dict[str, Any]:
    """Options for OpenAI's or Anthropic's SDK in a call: bounded waits, no silent retries.

    By default an SDK waits ten minutes and tries three times, which would be silence in a call. Its own client follows
    redirects, and fails on values of NO_PROXY that others accept.

    Args:
        silence: seconds without a byte after which a request has failed.
        url: the server's.

    Raises:
        ConfigurationError, ComponentError: the environment names a proxy that cannot be used.
    """
    limits = connection_limits(max_keepalive_connections=100, max_connections=1000, keepalive_expiry=None)
    options = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    # If the system has these: they also keep idle connections open in middleboxes.
    for name, value in (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 60), ("TCP_KEEPCNT", 5)):
        if (option := getattr(socket, name, None)) is not None:
            options.append((socket.IPPROTO_TCP, option, value))
    transport = httpx2.AsyncHTTPTransport(limits=limits, proxy=proxy_for(url), socket_options=options)
    return {
        "http_client": httpx2.AsyncClient(transport=transport),
        "timeout": httpx2.Timeout(silence, connect=CONNECT_WITHIN),
        "max_retries": 0,
    }
