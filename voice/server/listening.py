"""Opens a server's listening socket, and notices when its parent process has gone."""

import asyncio
import errno
import socket
import sys

from voice.errors import ConfigurationError


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
    """Return when standard input ends, so that a child never outlives its parent."""
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
