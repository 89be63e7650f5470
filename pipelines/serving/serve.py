"""`voice serve`: runs an agent as a server until it is stopped."""

import argparse
import asyncio
import contextlib
import logging
import sys
from collections.abc import Callable
from typing import Any

import uvicorn
from loguru import logger

from latency.budget import Budget
from pipelines.agent import Agent
from pipelines.call_log.prometheus import CALL_LOG, PrometheusMetrics
from pipelines.call_log.tracing import CallTrace, tracer
from pipelines.process import SafeFormatter, end_in_a_sentence, log_pipecat
from pipelines.serving.address import Address
from pipelines.serving.draining import DrainingServer
from pipelines.tiers.table import Tiers
from voice.server.app import create_app
from voice.server.authentication import Access
from voice.server.calls import Calls
from voice.server.connections import BoundedWebSocket
from voice.server.event_loop import LoopWatch
from voice.server.garbage_collection import GarbageCollection
from voice.server.limits import LARGEST_MESSAGE
from voice.server.listening import listen, stdin_closed
from voice.wire.endpoint import call_url, page_url


async def serve_agent(
    agent: Agent,
    address: Address,
    *,
    announce: Callable[[str], None] = print,
    until_stdin_closes: bool = False,
) -> None:
    """Serve until SIGINT, or until the calls under way have ended after SIGTERM.

    Args:
        agent: answers the calls; it is started and closed here.
        address: the address, and the access to it.
        announce: called with one line once the server accepts calls: "Listening on ws://…/ws".
        until_stdin_closes: also stop when standard input ends, so that a child never outlives its parent.

    Raises:
        ConfigurationError: the port is in use, or callers on other machines could call without a token.
    """
    access = address.access()
    sock = listen(address.host, address.port)
    loop = asyncio.get_running_loop()
    with GarbageCollection(loop) as garbage, contextlib.ExitStack() as at_end:
        metrics = _metrics(agent)
        calls = Calls(
            agent,
            garbage,
            most=address.calls,
            metrics=metrics,
            resume_within=address.resume,
            from_one=address.most_from_one,
            longest=address.longest,
            idle=address.idle,
        )

        def take_calls() -> None:
            garbage.freeze()
            calls.headroom = headroom = agent.headroom
            if watch := LoopWatch.begin(loop):
                at_end.callback(watch.close)
                headroom.follow(watch)
            metrics.watch(headroom)
            calls.ready = True
            announce(f"Listening on {call_url(address.host, sock.getsockname()[1], secure=address.tls)}")

        server = DrainingServer(_configuration(calls, access, address), calls, within=address.drain)
        serving = asyncio.create_task(server.serve(sockets=[sock]))
        watching = asyncio.create_task(stdin_closed()) if until_stdin_closes else None
        await _run(agent, server, serving, watching, take_calls)


async def _run(
    agent: Agent,
    server: uvicorn.Server,
    serving: asyncio.Task[None],
    watching: asyncio.Task[None] | None,
    take_calls: Callable[[], None],
) -> None:
    """Load the agent, accept calls, and close everything at the end."""
    loading = asyncio.create_task(agent.start())
    ending = {serving, *([watching] if watching else [])}
    try:
        await asyncio.wait({loading, *ending}, return_when=asyncio.FIRST_COMPLETED)
        if loading.done():
            loading.result()
            take_calls()
            await asyncio.wait(ending, return_when=asyncio.FIRST_COMPLETED)
    finally:
        server.should_exit = True
        for task in (loading, watching):
            if task and not task.done():
                task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await loading
        await serving
        await agent.close()


def _metrics(agent: Agent) -> PrometheusMetrics:
    llm = agent.settings.llm
    budget = llm.budget_ms / 1000 if isinstance(llm, Tiers) else Budget().llm
    providers = {name: tier.provider for name, tier in llm.tiers.items()} if isinstance(llm, Tiers) else {}

    def trace() -> CallTrace | None:
        found = tracer()
        return None if found is None else CallTrace(providers, found)

    return PrometheusMetrics(stop=agent.settings.vad.stop_ms / 1000, budget=budget, trace=trace)


def _configuration(calls: Calls, access: Access, address: Address) -> uvicorn.Config:
    return uvicorn.Config(
        create_app(calls, access),
        # The process's own log shows no keys.
        log_config=None,
        log_level="warning",
        http="h11",
        ws=BoundedWebSocket,
        ssl_certfile=address.tls_cert,
        ssl_keyfile=address.tls_key,
        proxy_headers=address.behind_proxy,
        ws_per_message_deflate=False,
        ws_max_size=LARGEST_MESSAGE,
        lifespan="off",
        timeout_graceful_shutdown=1,
    )


def serve(agent: Agent, *, host: str = "127.0.0.1", port: int = 8765, **more: Any) -> None:
    """Serve `agent` on ws://host:port/ws until Ctrl-C, then return. A program without its own log setup sees warnings.

    A program that does not catch the errors below ends with their message and the exit status of `voice serve`, unless
    it has a `sys.excepthook` of its own.

    Args:
        agent: answers the calls.
        host: the address to listen on.
        port: the port; 0 chooses a free one.
        more: the fields of `Address`, for callers on other machines.

    Raises:
        ConfigurationError: the port is in use, the pipeline lacks a part, or callers on other machines could call
            without a token.
        ComponentError: an engine is missing or broken.
    """
    log_warnings()
    end_in_a_sentence()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve_agent(agent, Address(host=host, port=port, **more)))


def log_warnings() -> None:
    """Log warnings instead of loguru's default, pipecat's debug lines; a program's own log setup stays."""
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(SafeFormatter("%(levelname)s %(name)s: %(message)s"))
    try:
        logger.remove(0)
    except ValueError:
        return
    log_pipecat(level="WARNING")


def run_serve(args: argparse.Namespace) -> int:
    """`voice serve`."""
    agent = Agent(pipeline=args.pipeline, overrides=args.overrides)
    if not args.until_stdin_closes:
        logging.getLogger(CALL_LOG).setLevel(logging.INFO)
        # A parent process prints these lines itself.
        for reason in agent.choice.reasons:
            print(reason, file=sys.stderr)
        if folder := agent.settings.call.transcripts:
            print(f"A transcript of each call is kept in {folder}.", file=sys.stderr)

    def announce(line: str) -> None:
        print(line, flush=True)
        if not args.until_stdin_closes:
            print(f"Talk to it in a browser: {page_url(line.split()[-1])}", file=sys.stderr)

    address = Address(
        host=args.host,
        port=args.port,
        calls=args.calls,
        drain=args.drain,
        resume=args.resume,
        calls_from_one=args.calls_from_one,
        longest=args.longest_call * 60,
        idle=args.idle,
        allow_origins=tuple(args.allow_origin),
        tls_cert=args.tls_cert,
        tls_key=args.tls_key,
        behind_proxy=args.behind_proxy,
    )
    asyncio.run(serve_agent(agent, address, announce=announce, until_stdin_closes=args.until_stdin_closes))
    return 0
