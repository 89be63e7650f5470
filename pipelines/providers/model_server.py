"""Asks a server that speaks OpenAI's protocol for its list of models, and a model for one token."""

import asyncio
import json
from collections.abc import Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import anyio
import anyio.lowlevel
import httpx2

from voice.redaction import quoted
from voice.redirects import redirect_words

LARGEST_ANSWER = 1 << 20
"""The most bytes of an answer; a list of models or a single token is smaller."""
FAILURES = (httpx2.HTTPError, httpx2.InvalidURL, ValueError)
"""The errors of a request whose server cannot be reached or gives a wrong answer."""
T = TypeVar("T")


class RefusedError(ValueError):
    """The server answered with an HTTP status other than success.

    Args:
        status: The HTTP status.
        body: The body of the answer.
    """

    def __init__(self, status: int, body: bytes) -> None:
        self.status = status
        try:
            words = json.loads(body)["error"]["message"]
        except (ValueError, LookupError, TypeError, RecursionError):
            words = None
        said = quoted(words) if isinstance(words, str) else ""
        super().__init__(f"HTTP {status}" + (f": {said}" if said else ""))


def run(question: Coroutine[Any, Any, T]) -> T:
    """Wait for an answer; this also works inside a running event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(question)
    with ThreadPoolExecutor(1, thread_name_prefix="ask") as pool:
        return pool.submit(asyncio.run, question).result()


async def http_client(
    *, key: Mapping[str, str] | None = None, proxy: str | None = None, verify: bool = False
) -> httpx2.AsyncClient:
    """A client without time limits of its own: `asyncio.timeout` bounds each request as a whole.

    Args:
        key: The headers that carry the key.
        proxy: The proxy before the server; None for none.
        verify: Whether to check certificates; a server on this machine speaks plain HTTP.
    """
    # Each request has its own connection: a server that closes an idle one must not fail the next request.
    headers = {"Connection": "close", **(key or {})}
    alone = httpx2.Limits(max_keepalive_connections=0)
    # A transport of its own: the client would look for proxies in the environment.
    transport = httpx2.AsyncHTTPTransport(limits=alone, proxy=proxy, verify=verify)
    client = httpx2.AsyncClient(headers=headers, transport=transport, timeout=None)
    # The client runs on anyio, which loads its backend at the first wait: 30 ms that must not count as a server's time.
    await anyio.lowlevel.checkpoint()
    return client


async def list_models(client: httpx2.AsyncClient, url: str) -> list[str]:
    """The names of the models that the server at an "http(s)://…/v1" address offers.

    Raises:
        httpx2.HTTPError, httpx2.InvalidURL: The server cannot be reached.
        ValueError: The server refuses (`RefusedError`), or the answer is not a list of models.
    """
    answer = await _ask(client, "GET", f"{url}/models")
    models = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(models, list):
        raise ValueError("the answer is not a list of models")
    return [model["id"] for model in models if isinstance(model, dict) and isinstance(model.get("id"), str)]


async def complete(client: httpx2.AsyncClient, url: str, model: str, *, over_messages: bool = False) -> None:
    """Ask a model for one token, over Chat Completions or Anthropic's Messages.

    Raises:
        httpx2.HTTPError, httpx2.InvalidURL: The server cannot be reached.
        ValueError: The server refuses (`RefusedError`), or the answer is not one.
    """
    request = {"model": model, "max_tokens": 1, "messages": [{"role": "user", "content": "Hi"}]}
    answer = await _ask(client, "POST", f"{url}/{'messages' if over_messages else 'chat/completions'}", request)
    found = answer if isinstance(answer, dict) else {}
    if over_messages and found.get("type") != "message":
        raise ValueError("the answer is not a message")
    if not over_messages and not (isinstance(found.get("choices"), list) and found["choices"]):
        raise ValueError("the answer is not a completion")


def reason(error: Exception) -> str:
    """Why a request failed, as a clause without a full stop."""
    return quoted(str(error)) or type(error).__name__


async def _ask(client: httpx2.AsyncClient, method: str, url: str, body: Any = None) -> Any:
    """Make one request; returns the JSON of its answer, of which at most `LARGEST_ANSWER` bytes are read."""
    content = b""
    async with client.stream(method, url, json=body) as answer:
        async for part in answer.aiter_bytes():
            content += part
            if len(content) > LARGEST_ANSWER:
                raise ValueError("the answer is too long")
    if words := redirect_words(answer.status_code, answer.headers):
        raise ValueError(words)
    if not answer.is_success:
        raise RefusedError(answer.status_code, content)
    try:
        return json.loads(content)
    except RecursionError:
        raise ValueError("the answer is nested too deeply") from None
