"""A server that lets its calls end before it stops."""

import asyncio
import logging
import signal
import socket
from types import FrameType

import uvicorn

from voice.server import limits
from voice.server.calls import Calls
from voice.server.connections import BoundedHTTP
from voice.server.limits import Bucket
from voice.server.listening import Acceptor

LOOKED_EVERY = 0.1
log = logging.getLogger(__name__)


class DrainingServer(uvicorn.Server):
    """Ends at once on SIGINT. On SIGTERM it accepts no new calls and ends with the last one, or on a second signal.

    After SIGTERM the process ends with exit status 0; uvicorn would let the signal kill it before models are closed and
    traces are sent.

    Args:
        config: as for uvicorn.
        calls: the calls under way.
        within: seconds after which the remaining calls are cut off.
    """

    def __init__(self, config: uvicorn.Config, calls: Calls, *, within: float) -> None:
        super().__init__(config)
        self._calls, self._within = calls, within
        self._loop: asyncio.AbstractEventLoop | None = None
        self._draining: asyncio.Task[None] | None = None
        self._accepting: list[asyncio.Task[None]] = []

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept connections, and handle signals on this loop from now on."""
        self._loop = asyncio.get_running_loop()
        await super().startup([])
        opened = Bucket(limits.OPENED)

        def protocol() -> BoundedHTTP:
            return BoundedHTTP(self.config, self.server_state, self.lifespan.state, opened=opened)

        for sock in sockets or []:
            accepting = asyncio.create_task(Acceptor(sock, protocol, opened, self.config.ssl).accept())
            accepting.add_done_callback(self._accepted)
            self._accepting.append(accepting)

    def _accepted(self, accepting: asyncio.Task[None]) -> None:
        """End when no more connections can be accepted."""
        if not accepting.cancelled() and (error := accepting.exception()):
            log.error("no more connections can be accepted: %s", error)
            self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the remaining calls; clients that are away cannot be told."""
        for accepting in self._accepting:
            accepting.cancel()
        self._calls.end_waiting()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A signal came."""
        if sig != signal.SIGTERM:
            super().handle_exit(sig, frame)
        elif self._loop is not None and not self._calls.closing and self._calls.active:
            self._calls.closing = True
            self._loop.call_soon_threadsafe(self._begin)
        else:
            self.should_exit = True

    def _begin(self) -> None:
        self._draining = asyncio.ensure_future(self._drain())

    async def _drain(self) -> None:
        log.warning(
            "asked to end: %d calls may take another %g s, and no other begins; a second signal cuts them off",
            len(self._calls.active),
            self._within,
        )
        for _ in range(round(self._within / LOOKED_EVERY)):
            if self.should_exit or not self._calls.active:
                break
            await asyncio.sleep(LOOKED_EVERY)
        self.should_exit = True
