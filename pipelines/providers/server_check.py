"""Checks a tier's server: is it reachable, does it accept the key, does it have the model, does it answer?"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx2

from latency.command_line import did_you_mean
from pipelines.providers.model_server import FAILURES, RefusedError, complete, http_client, list_models, reason
from pipelines.providers.remote_tier import RemoteTierTable
from voice.environment import proxy_for
from voice.llm.wires.errors import connection_words
from voice.llm.wires.responses.socket import Socket

LIST_WITHIN = 5.0
"""Seconds for the list of models, including the connection."""
TOKEN_WITHIN = 20.0
"""Seconds for one token: a server on this machine may have to load its model first."""
LISTED = 8
"""The number of models shown if the one in the pipeline file is not listed."""


@dataclass(frozen=True, slots=True)
class ServerState:
    """Whether a tier's model can be used, and a clause that continues after the model's name."""

    works: bool
    text: str


async def check_server(tier: RemoteTierTable, *, ask: bool) -> ServerState:
    """Ask for the list of models and for one token, each within its time limit.

    A tier with an API key counts as paid, and so does OpenAI; a paid tier is asked for a token only if `ask` is set.
    """
    url = tier.api_url
    parts = urlsplit(url)
    key = tier.key
    headers = tier.key_headers | tier.extra_headers
    async with await http_client(key=headers, proxy=proxy_for(url), verify=parts.scheme == "https") as client:
        try:
            async with asyncio.timeout(LIST_WITHIN):
                names = await list_models(client, url)
        except RefusedError as error:
            if error.status in (401, 403):
                return _key_refused(tier, url, error, key)
            # Not every server lists its models, but this one answers.
            names = []
        except TimeoutError:
            return ServerState(False, f"{url} did not answer within {LIST_WITHIN:g} s; {_advice(tier)}")
        except FAILURES as error:
            return ServerState(False, f"{url} {_problem(error, tier)}")
        unlisted = "" if not names or _offers(names, tier.model) else _not_listed(tier.model, names)
        if _is_paid(tier) and not ask:
            return (
                ServerState(False, f"{url} {unlisted}")
                if unlisted
                else ServerState(True, f"{url} answers; it was not asked for a token, which is billed (use --ask)")
            )
        return await _token(client, tier, url, unlisted=unlisted)


async def _token(client: httpx2.AsyncClient, tier: RemoteTierTable, url: str, *, unlisted: str) -> ServerState:
    from websockets.exceptions import WebSocketException

    failed = f"{url} did not complete a token"
    begin = time.monotonic()
    try:
        async with asyncio.timeout(TOKEN_WITHIN):
            if tier.protocol == "responses":
                await _complete_over_socket(url, tier.model, tier.key_headers | tier.extra_headers)
            else:
                await complete(client, url, tier.model, over_messages=tier.protocol == "messages")
    except TimeoutError:
        return ServerState(False, f"{failed} within {TOKEN_WITHIN:g} s")
    except (WebSocketException, OSError, *FAILURES) as error:
        return ServerState(False, f"{failed} ({reason(error)})" + (f"; it {unlisted}" if unlisted else ""))
    return ServerState(True, f"{url} completed a token in {(time.monotonic() - begin) * 1000:.0f} ms")


async def _complete_over_socket(url: str, model: str, headers: Mapping[str, str]) -> None:
    """Make a model start an answer over a Responses WebSocket, as calls do.

    Raises:
        OSError, WebSocketException: The socket cannot be opened, or the connection is lost.
        ValueError: The server reports an error.
    """
    from websockets.asyncio.client import connect

    from voice.llm.wires.events import ProviderError
    from voice.redirects import DirectConnection

    address = f"ws{url.removeprefix('http')}/responses"
    proxy = proxy_for(address) if address.startswith("wss") else None
    async with connect(
        address, create_connection=DirectConnection, additional_headers=headers, proxy=proxy
    ) as websocket:
        socket = Socket(websocket, time.monotonic())
        await socket.ask({"model": model, "input": [{"role": "user", "content": "Hi"}], "max_output_tokens": 16})
        while not socket.ended:
            event = await socket.recv()
            if event["type"] == "response.output_text.delta":
                return
        raise ValueError(ProviderError(event).words)


def _is_paid(tier: RemoteTierTable) -> bool:
    return tier.base_url is None or tier.api_key_env is not None


def _key_refused(tier: RemoteTierTable, url: str, error: RefusedError, key: str | None) -> ServerState:
    if key:
        return ServerState(False, f"{url} refuses the key in {tier.api_key_env} ({error})")
    if tier.api_key_env:
        return ServerState(True, f"{url} answers, and requires the key")
    return ServerState(False, f"{url} requires a key ({error}); name its environment variable in api_key_env")


def _offers(names: Sequence[str], model: str) -> bool:
    # Ollama lists llama3.2 as llama3.2:latest.
    return model in names or f"{model}:latest" in names


def _not_listed(model: str, names: Sequence[str]) -> str:
    some = ", ".join(names[:LISTED]) + (", …" if len(names) > LISTED else "")
    return f"lists no model {model}" + (did_you_mean(model, names) or f"; it lists {some}")


def _advice(tier: RemoteTierTable) -> str:
    if tier.base_url is None:
        return "check this machine's connection to the internet"
    return "check that the server is running and that base_url is right"


def _problem(error: Exception, tier: RemoteTierTable) -> str:
    if isinstance(error, httpx2.ConnectError):
        return f"{connection_words(error)}; {_advice(tier)}"
    return f"does not speak {tier.whose}'s protocol ({reason(error)})" + ("; check base_url" if tier.base_url else "")
