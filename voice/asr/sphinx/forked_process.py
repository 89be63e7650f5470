"""A worker process that the template forks, as seen from the event loop: its pipes, and how it ends."""

import asyncio
import contextlib
import os
from collections.abc import Callable

from voice.asr.sphinx.process import kill_process

_REPORT_WITHIN = 0.5
"""Seconds after a worker's output has ended in which the template reports how; afterwards that is unknown."""


class ForkedProcess:
    """A worker process that a template forks; a `WorkerProcess`.

    Args:
        is_reported: whether there is still a template that reports how its workers end.
    """

    commands: asyncio.WriteTransport

    def __init__(self, is_reported: Callable[[], bool]) -> None:
        self.pid = 0
        self.has_ended = False
        self.returncode: int | None = None
        self.replies = asyncio.StreamReader()
        self.forked: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._ended = asyncio.Event()
        self._is_reported = is_reported

    async def connect(self) -> tuple[int, int]:
        """Make its pipes; returns the descriptors from which it reads, and to which it writes.

        Raises:
            OSError: There are no more descriptors.
        """
        loop = asyncio.get_running_loop()
        with contextlib.ExitStack() as opened:
            reads, ours = os.pipe()
            opened.callback(os.close, reads)
            self.commands, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, os.fdopen(ours, "wb", 0))
            opened.callback(self.commands.close)
            ours, writes = os.pipe()
            opened.callback(os.close, writes)
            await loop.connect_read_pipe(lambda: _Replies(self.replies, self._closed), os.fdopen(ours, "rb", 0))
            opened.pop_all()
            return reads, writes

    def end(self, code: int | None) -> None:
        """Note that the process has ended, and its exit status where that is known."""
        if not self.has_ended:
            self.has_ended, self.returncode = True, code
            self.commands.close()
            self._ended.set()

    async def wait(self) -> None:
        """Wait for its end."""
        await self._ended.wait()

    def kill(self) -> None:
        """Kill it."""
        if not self.has_ended:
            kill_process(self.pid)
            self._closed()

    def _closed(self) -> None:
        if self._is_reported():
            asyncio.get_running_loop().call_later(_REPORT_WITHIN, self.end, None)
        else:
            self.end(None)


class _Replies(asyncio.StreamReaderProtocol):
    """Reads what a worker writes, and tells when it no longer can."""

    def __init__(self, reader: asyncio.StreamReader, closed: Callable[[], None]) -> None:
        super().__init__(reader)
        self._when_closed = closed

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._when_closed()
