"""`voice serve`: the server process."""

import argparse
import asyncio
import contextlib
import errno
import gc
import socket
import sys
from collections.abc import Callable

import uvicorn

from pipelines.agent import Agent
from voice.errors import ConfigurationError
from voice.server.app import Calls, create_app
from voice.server.transport import LARGEST_MESSAGE


def listen(host: str, port: int) -> socket.socket:
    """A listening socket.

    Raises:
        ConfigurationError: the address cannot be had.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio sets TCP_NODELAY; without, small messages wait 40 ms for an acknowledgement.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # An empty name would be every address of the machine.
        sock.bind((host or " ", port))
        sock.listen(128)
    except (OSError, UnicodeError) as error:
        sock.close()
        raise ConfigurationError(_refusal(host, port, error)) from error
    return sock


def _refusal(host: str, port: int, error: OSError | UnicodeError) -> str:
    why = error.strerror if isinstance(error, OSError) else "no host name"
    if isinstance(error, OSError) and error.errno in (errno.EADDRINUSE, errno.EACCES):
        return f"Cannot listen on {host}:{port} ({why}); choose another port with --port, or 0 for a free one."
    return f'Cannot listen on "{host}" ({why}); give an address of this machine with --host, such as 127.0.0.1.'


async def serve_agent(
    agent: Agent,
    *,
    host: str,
    port: int,
    announce: Callable[[str], None] = print,
    until_stdin_closes: bool = False,
) -> None:
    """Serve until SIGINT or SIGTERM.

    Args:
        announce: is told one line when calls are taken: "Listening on ws://…/ws".
        until_stdin_closes: also stop when standard input ends, so that a child never outlives its parent.
    """
    sock = listen(host, port)
    calls = Calls(agent)
    config = uvicorn.Config(
        create_app(calls),
        log_level="warning",
        ws="websockets-sansio",
        ws_per_message_deflate=False,
        ws_max_size=LARGEST_MESSAGE,
        lifespan="off",
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve(sockets=[sock]))
    loading = asyncio.create_task(agent.start())
    watching = asyncio.create_task(_stdin_closed()) if until_stdin_closes else None
    try:
        await asyncio.wait({serving, loading, *([watching] if watching else [])}, return_when=asyncio.FIRST_COMPLETED)
        if loading.done():
            loading.result()
            # Models and libraries stay for good: the collector need not walk them, 0.1 s at a time, during calls.
            gc.collect()
            gc.freeze()
            calls.ready = True
            name = f"[{host}]" if ":" in host else host
            announce(f"Listening on ws://{name}:{sock.getsockname()[1]}/ws")
            await asyncio.wait({serving, *([watching] if watching else [])}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        server.should_exit = True
        for task in (loading, watching):
            if task and not task.done():
                task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await loading
        await serving
        await agent.close()


async def _stdin_closed() -> None:
    """Return at the end of standard input."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while await reader.read(1024):
        pass


def run_serve(args: argparse.Namespace) -> int:
    """`voice serve`."""
    agent = Agent(pipeline=args.pipeline, overrides=args.overrides)
    if not args.until_stdin_closes:
        # A parent shows them itself.
        for reason in agent.choice.reasons:
            print(reason, file=sys.stderr)

    def announce(line: str) -> None:
        print(line, flush=True)

    asyncio.run(
        serve_agent(
            agent, host=args.host, port=args.port, announce=announce, until_stdin_closes=args.until_stdin_closes
        )
    )
    return 0
