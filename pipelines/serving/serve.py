"""`voice serve`: the server process."""

import argparse
import asyncio
import contextlib
import gc
import sys
from collections.abc import Callable

import uvicorn

from pipelines.agent import Agent
from voice.server.app import Calls, create_app
from voice.server.garbage import keep_all
from voice.server.listening import listen, stdin_closed
from voice.wire.endpoint import LARGEST_MESSAGE, call_url


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
    thresholds = gc.get_threshold()
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
    watching = asyncio.create_task(stdin_closed()) if until_stdin_closes else None
    try:
        await asyncio.wait({serving, loading, *([watching] if watching else [])}, return_when=asyncio.FIRST_COMPLETED)
        if loading.done():
            loading.result()
            keep_all()
            calls.ready = True
            announce(f"Listening on {call_url(host, sock.getsockname()[1])}")
            await asyncio.wait({serving, *([watching] if watching else [])}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        gc.set_threshold(*thresholds)
        server.should_exit = True
        for task in (loading, watching):
            if task and not task.done():
                task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await loading
        await serving
        await agent.close()
        gc.unfreeze()


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
