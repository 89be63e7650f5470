"""Language model servers on this machine: found on their usual ports, and believed once they complete a token."""

import http.client
import json
import socket
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

# Where local servers listen by default: Ollama, llama.cpp, vLLM, LM Studio.
LOCAL_SERVERS = {"Ollama": 11434, "llama.cpp": 8080, "vLLM": 8000, "LM Studio": 1234}
FIND_WITHIN = 0.15
"""Seconds for the whole search: all ports at once, each until its list of models is complete."""
PROBE_WITHIN = 20.0
"""Seconds for all one-token probes together: a server may have to load its model first."""
LARGEST_ANSWER = 1 << 20
"""Bytes; what sends more is no list of models and no single token."""
# What servers do that are none: RecursionError is JSON nested without end.
_FAILURES = (OSError, ValueError, RecursionError, http.client.HTTPException)


@dataclass(frozen=True, slots=True)
class LocalServer:
    """What is at one of the ports.

    Parameters:
        name: the kind of server that listens there by default.
        port: on loopback.
        model: the first one it offers that can talk; None when there is none.
        problem: why something that listens there is not taken, as a clause; None when nothing listens.
    """

    name: str
    port: int
    model: str | None = None
    problem: str | None = None

    @property
    def url(self) -> str:
        """As the OpenAI SDK takes it."""
        return f"http://127.0.0.1:{self.port}/v1"


def find_servers() -> list[LocalServer]:
    """Look at every port at the same time, for `FIND_WITHIN` seconds altogether."""
    if not LOCAL_SERVERS:
        return []
    deadline = time.monotonic() + FIND_WITHIN
    servers = [LocalServer(name, port) for name, port in LOCAL_SERVERS.items()]
    with ThreadPoolExecutor(len(servers), thread_name_prefix="find") as pool:
        return list(pool.map(lambda server: _look(server, deadline), servers))


def probe(servers: Sequence[LocalServer]) -> tuple[LocalServer | None, list[LocalServer]]:
    """The first server that really completes one token, None if none does, and those before it with their problems.

    Together they have `PROBE_WITHIN` seconds, so that one that hangs leaves the others their share.
    """
    failed: list[LocalServer] = []
    begin = time.monotonic()
    for number, server in enumerate(servers, start=1):
        problem = _complete(server, begin + PROBE_WITHIN * number / len(servers))
        if problem is None:
            return server, failed
        failed.append(replace(server, problem=problem))
    return None, failed


def first_model(url: str) -> str | None:
    """The first model that the server at an `http://…/v1` address offers, or None when none is there in time."""
    try:
        return _first_of(_ask(f"{url}/models", time.monotonic() + FIND_WITHIN))
    except _FAILURES:
        return None


def _look(server: LocalServer, deadline: float) -> LocalServer:
    """What is at a port, as far as it can be seen by the deadline."""
    try:
        model = _first_of(_ask(f"{server.url}/models", deadline))
    except ConnectionRefusedError:
        return server
    except TimeoutError:
        return replace(server, problem=f"listens but lists no models within {FIND_WITHIN * 1000:g} ms")
    except _FAILURES:
        return replace(server, problem="listens but lists no models")
    return replace(server, model=model, problem=None if model else f"{server.name} has no model that talks")


def _first_of(answer: Any) -> str | None:
    """The first model of a list that can talk.

    Raises:
        ValueError: it is no list of models.
    """
    models = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(models, list):
        raise ValueError("no list of models")
    names = [model["id"] for model in models if isinstance(model, dict) and isinstance(model.get("id"), str)]
    # Servers list what only makes vectors beside what talks.
    return next((name for name in names if "embed" not in name.lower()), None)


def _complete(server: LocalServer, deadline: float) -> str | None:
    """Have one token completed; why that failed, as a clause, or None."""
    request = {"model": server.model, "max_tokens": 1, "messages": [{"role": "user", "content": "Hi"}]}
    failed = f"{server.name} lists {server.model} but did not complete a token"
    begin = time.monotonic()
    try:
        answer = _ask(f"{server.url}/chat/completions", deadline, request)
    except TimeoutError:
        return f"{failed} within {deadline - begin:.3g} s"
    except _FAILURES as error:
        return f"{failed} ({str(error).rstrip('.') or type(error).__name__})"
    choices = answer.get("choices") if isinstance(answer, dict) else None
    return None if isinstance(choices, list) and choices else failed


class _Connection(socket.socket):
    """A TCP connection that gives up at a point in time, however its peer spreads what it sends."""

    def __init__(self, host: str, port: int, deadline: float) -> None:
        super().__init__(socket.AF_INET, socket.SOCK_STREAM)
        self._deadline = deadline
        try:
            self.settimeout(self._left())
            self.connect((host, port))
        except OSError:
            self.close()
            raise

    def recv_into(self, *args: Any) -> int:
        """As a socket's; every read has only what is left."""
        self.settimeout(self._left())
        return super().recv_into(*args)

    def _left(self) -> float:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left


def _ask(url: str, deadline: float, body: Any = None) -> Any:
    """One request on a connection of its own; the JSON of the answer.

    Args:
        url: plain HTTP. No proxy is ever used, whatever the environment says.
        deadline: on the monotonic clock, for everything together.
        body: JSON to post; None gets.

    Raises:
        TimeoutError: the answer is not complete by the deadline.
        OSError, ValueError, RecursionError, http.client.HTTPException: nothing answers, or not with JSON.
    """
    parts = urlsplit(url)
    if parts.scheme != "http" or not parts.hostname:
        raise ValueError(f"{url} is no http address")
    with _Connection(parts.hostname, parts.port or http.client.HTTP_PORT, deadline) as connection:
        client = http.client.HTTPConnection(parts.hostname, parts.port)
        client.sock = connection
        headers = {"Content-Type": "application/json", "Connection": "close"}
        client.request(
            "GET" if body is None else "POST", parts.path, None if body is None else json.dumps(body), headers
        )
        with client.getresponse() as answer:
            if answer.status != http.client.OK:
                raise http.client.HTTPException(f"HTTP {answer.status}")
            return json.loads(answer.read(LARGEST_ANSWER))
