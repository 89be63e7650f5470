"""Finds language model servers on this machine, on their usual ports, and asks them for a token."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import httpx2

from pipelines.providers.model_server import FAILURES, complete, http_client, list_models, reason, run

LOCAL_SERVERS = {"Ollama": 11434, "llama.cpp": 8080, "vLLM": 8000, "LM Studio": 1234}
"""The ports that local servers listen on by default."""
FIND_WITHIN = 0.15
"""Seconds for the whole search: all ports at once, including their lists of models."""
PROBE_WITHIN = 20.0
"""Seconds for all one-token probes together: a server may have to load its model first."""


@dataclass(frozen=True, slots=True)
class LocalServer:
    """The server at one of the ports.

    Parameters:
        name: the kind of server that listens there by default.
        port: on loopback.
        model: the first chat model that it offers; None when there is none.
        problem: why a server that listens there is not used, as a clause; None when nothing listens.
    """

    name: str
    port: int
    model: str | None = None
    problem: str | None = None

    @property
    def url(self) -> str:
        """The base URL for the OpenAI SDK."""
        return f"http://127.0.0.1:{self.port}/v1"


def find_servers() -> list[LocalServer]:
    """Look at all ports at once, for `FIND_WITHIN` seconds altogether."""
    return run(_find([LocalServer(name, port) for name, port in LOCAL_SERVERS.items()]))


def probe(servers: Sequence[LocalServer]) -> tuple[LocalServer | None, list[LocalServer]]:
    """The first server that completes one token, or None, and the servers before it with their problems.

    All of them share `PROBE_WITHIN` seconds; a server that hangs leaves the others their share.
    """
    return run(_probe(servers)) if servers else (None, [])


def first_model(url: str) -> str | None:
    """The first chat model that the server at an `http://…/v1` address offers; None if it lists none in time."""
    return run(_first_model(url))


async def _find(servers: Sequence[LocalServer]) -> list[LocalServer]:
    async with await http_client() as client:
        deadline = time.monotonic() + FIND_WITHIN
        return list(await asyncio.gather(*(_look(client, server, deadline) for server in servers)))


async def _look(client: httpx2.AsyncClient, server: LocalServer, deadline: float) -> LocalServer:
    """The server at a port, as far as it is known by the deadline."""
    try:
        async with asyncio.timeout_at(deadline):
            model = _chat_model(await list_models(client, server.url))
    except TimeoutError:
        return replace(server, problem=f"listens but lists no models within {FIND_WITHIN * 1000:g} ms")
    except httpx2.ConnectError:
        return server
    except FAILURES:
        return replace(server, problem="listens but lists no models")
    return replace(server, model=model, problem=None if model else f"{server.name} has no chat model")


async def _probe(servers: Sequence[LocalServer]) -> tuple[LocalServer | None, list[LocalServer]]:
    failed: list[LocalServer] = []
    async with await http_client() as client:
        begin = time.monotonic()
        for number, server in enumerate(servers, start=1):
            problem = await _complete(client, server, begin + PROBE_WITHIN * number / len(servers))
            if problem is None:
                return server, failed
            failed.append(replace(server, problem=problem))
    return None, failed


async def _complete(client: httpx2.AsyncClient, server: LocalServer, deadline: float) -> str | None:
    """Ask the server for one token; returns the reason of a failure, as a clause, or None."""
    failed = f"{server.name} lists {server.model} but did not complete a token"
    begin = time.monotonic()
    try:
        async with asyncio.timeout_at(deadline):
            await complete(client, server.url, server.model or "")
    except TimeoutError:
        return f"{failed} within {deadline - begin:.3g} s"
    except FAILURES as error:
        return f"{failed} ({reason(error)})"
    return None


async def _first_model(url: str) -> str | None:
    async with await http_client() as client:
        try:
            async with asyncio.timeout(FIND_WITHIN):
                return _chat_model(await list_models(client, url))
        except (TimeoutError, *FAILURES):
            return None


def _chat_model(names: Sequence[str]) -> str | None:
    # Servers list embedding models as well as chat models.
    return next((name for name in names if "embed" not in name.lower()), None)
