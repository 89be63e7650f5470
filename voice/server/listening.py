"""A server's listening socket: accepts connections one by one, no faster than the calls under way tolerate.

asyncio accepts up to 2,048 in one round of its loop, and out of descriptors it logs a traceback for each.
"""

import asyncio
import contextlib
import errno
import logging
import socket
import ssl
import sys
from collections.abc import Callable

from voice.errors import ConfigurationError
from voice.server import limits
from voice.server.limits import Bucket, descriptors, most_connections

RETRY_AFTER = 0.5
"""Seconds without new connections after the process has run short of descriptors."""
SAID_EVERY = 10.0
"""Seconds between two warnings about it."""
SHORT = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
log = logging.getLogger(__name__)


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one.

    Raises:
        ConfigurationError: the address is in use, not allowed, or not of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # If the protocol is named, asyncio sets TCP_NODELAY; otherwise small messages wait 40 ms for an acknowledgement.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # An empty name would mean every address of the machine.
        sock.bind((host or " ", port))
        sock.listen(128)
    except (OSError, UnicodeError) as error:
        sock.close()
        raise ConfigurationError(_refusal(host, port, error)) from error
    return sock


async def stdin_closed() -> None:
    """Wait for the end of standard input, so that a child never outlives its parent."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while await reader.read(1024):
        pass


def _refusal(host: str, port: int, error: OSError | UnicodeError) -> str:
    why = error.strerror if isinstance(error, OSError) else "not a host name"
    if isinstance(error, OSError) and error.errno in (errno.EADDRINUSE, errno.EACCES):
        other = "choose another port (--port, or port= in Python), or 0 for a free one."
        return f"Cannot listen on {host}:{port} ({why}); {other}"
    return f'Cannot listen on "{host}" ({why}); give an address of this machine with --host, such as 127.0.0.1.'


class Acceptor:
    """Accepts the connections of a listening socket; waiting ones stay in the system's queue.

    The last few descriptors are reserved for the calls under way: a new connection that gets one of them is closed. The
    system always assigns the lowest free number.

    Args:
        listening: the socket.
        protocol: makes the protocol of a connection.
        opened: the bucket from which each connection takes.
        tls: encrypts the connections, if given.
    """

    def __init__(
        self,
        listening: socket.socket,
        protocol: Callable[[], asyncio.Protocol],
        opened: Bucket,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._socket, self._protocol, self._opened, self._tls = listening, protocol, opened, tls
        self._shaking: set[asyncio.Task[None]] = set()
        self._quiet_until = 0.0

    async def accept(self) -> None:
        """Accept connections until this is cancelled."""
        loop = asyncio.get_running_loop()
        self._socket.setblocking(False)
        try:
            while True:
                if connection := await self._next(loop):
                    opening = asyncio.create_task(self._open(loop, connection))
                    self._shaking.add(opening)
                    opening.add_done_callback(self._shaking.discard)
                    await asyncio.sleep(self._opened.wait(loop.time()) or 0)
                else:
                    self._say(loop.time())
                    await asyncio.sleep(RETRY_AFTER)
        finally:
            for task in self._shaking:
                task.cancel()

    async def _next(self, loop: asyncio.AbstractEventLoop) -> socket.socket | None:
        """The next connection; None while descriptors are short."""
        while True:
            try:
                connection, _ = await loop.sock_accept(self._socket)
            except OSError as error:
                if error.errno in SHORT:
                    return None
                if error.errno == errno.EBADF:
                    raise
                # The client has already gone.
                continue
            most = descriptors()
            if connection.fileno() >= most - min(limits.MOST_RESERVED, most // 8):
                connection.close()
                return None
            if len(self._shaking) >= most_connections():
                connection.close()
                continue
            return connection

    async def _open(self, loop: asyncio.AbstractEventLoop, connection: socket.socket) -> None:
        """Hand a connection to its protocol, after the TLS handshake if there is one."""
        within = limits.REQUEST_WITHIN if self._tls else None
        with contextlib.suppress(OSError, TimeoutError):  # the client has gone, speaks no TLS, or takes too long
            await loop.connect_accepted_socket(self._protocol, connection, ssl=self._tls, ssl_handshake_timeout=within)

    def _say(self, now: float) -> None:
        if now >= self._quiet_until:
            self._quiet_until = now + SAID_EVERY
            log.warning("connections wait: the process has too few descriptors left (ulimit -n)")
