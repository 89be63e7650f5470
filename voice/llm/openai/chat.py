"""OpenAI's Chat Completions for a voice call, with bounded waits, no silent retries and a connection kept open."""

import asyncio
import ipaddress
import logging
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit

from openai import APIError, APIStatusError, AsyncOpenAI, DefaultAsyncHttpxClient, Timeout
from openai.types.chat import ChatCompletionChunk
from pipecat.adapters.llm.services.open_ai_adapter import OpenAILLMInvocationParams
from pipecat.frames.frames import StartFrame
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.services.openai.llm import OpenAILLMService
from pipecat.utils.http import connection_limits

from voice.llm.answer.answer_frames import LLMFailureFrame
from voice.llm.openai.chat_stream import checked
from voice.llm.provider_errors import reason
from voice.llm.tiers.tier import sign_of_life

CONNECT_WITHIN = 2.0
"""Seconds."""
EMPTY_CHUNK: dict[str, Any] = {
    "id": "",
    "object": "chat.completion.chunk",
    "created": 0,
    "model": "",
    "choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {}}]}}],
    "usage": {"prompt_tokens_details": {}, "completion_tokens_details": {}},
}
"""A chunk with every field that a chunk may have."""
log = logging.getLogger(__name__)


def make_client(*, base_url: str | None, api_key: str, silence: float) -> AsyncOpenAI:
    """Make a client whose open connections all calls share. This takes tenths of a second, mostly for imports.

    By default the SDK waits ten minutes and tries three times; during a call that would be silence.

    Args:
        base_url: the server's URL; None for OpenAI.
        api_key: sent with every request; a server that needs no key accepts any.
        silence: seconds without a byte after which a request has failed.
    """
    http = DefaultAsyncHttpxClient(
        limits=connection_limits(max_keepalive_connections=100, max_connections=1000, keepalive_expiry=None),
        # A server on this machine is never behind a proxy, whatever the environment says.
        trust_env=not (base_url and _is_loopback(base_url)),
    )
    client = AsyncOpenAI(
        api_key=api_key,
        base_url=base_url,
        max_retries=0,
        timeout=Timeout(silence, connect=CONNECT_WITHIN),
        http_client=http,
    )
    # The SDK imports what requests need with the first request, and compiles the fields of chunks with the first chunk.
    assert client.chat.completions is not None
    ChatCompletionChunk.construct(**EMPTY_CHUNK)
    return client


async def warm_up(client: AsyncOpenAI, *, model: str, where: str) -> str | None:
    """Open a connection; returns None, or one sentence that says why it failed. The failure may be temporary."""
    try:
        await client.with_options(timeout=CONNECT_WITHIN).models.list()
    except APIStatusError:
        # Not every server lists its models, but this one has answered.
        return None
    except (APIError, ValueError) as error:
        return reason(error, model=model, where=where)
    return None


class ChatService(OpenAILLMService):
    """pipecat's OpenAI service on a shared client, for a `Tier`: a failure is reported as an `LLMFailureFrame`.

    A cancelled request closes its connection. Another one is opened at once, so that the next turn does not have to
    wait for it. `checked` verifies that the server streams a chat completion.

    Args:
        client: see `make_client`.
        model: its name on the server.
        prompt: the system prompt.
        max_tokens: the longest answer.
        where: how the report names the server.
        connections: how many to keep open: the largest number of requests that run at the same time.
    """

    def __init__(
        self, client: AsyncOpenAI, *, model: str, prompt: str, max_tokens: int, where: str, connections: int = 1
    ) -> None:
        self._shared_client = client
        self._connections = connections
        self._model = model
        self._where = where
        self._opening: asyncio.Task[None] | None = None
        # pipecat reports a turn without words in the developer role, which only OpenAI's servers support.
        self.supports_developer_role = client.base_url.host == "api.openai.com"
        super().__init__(settings=self.Settings(model=model, max_tokens=max_tokens, system_instruction=prompt))

    def create_client(self, *_args: Any, **_kwargs: Any) -> AsyncOpenAI:
        """The shared client; called by pipecat."""
        return self._shared_client

    async def start(self, frame: StartFrame) -> None:
        """Open connections when the call begins: the server may have closed them since the last call."""
        await super().start(frame)
        self._open()

    async def cleanup(self) -> None:
        """End the task that opens connections."""
        if self._opening:
            await self.cancel_task(self._opening)
        await super().cleanup()  # type: ignore[no-untyped-call]  # pipecat leaves it unannotated

    async def get_chat_completions(self, context: LLMContext) -> AsyncIterator[ChatCompletionChunk]:  # type: ignore[override]
        """The answer's chunks; called by pipecat, which iterates over them and closes the iterator."""
        stream = await super().get_chat_completions(context)
        sign_of_life()
        return checked(stream)

    def build_chat_completion_params(self, params_from_context: OpenAILLMInvocationParams) -> dict[str, Any]:
        """The request's parameters; called by pipecat. The messages bypass the SDK's checks.

        The SDK would walk through each message on the event loop, which takes 20 ms in a call's sixtieth turn (120
        messages).
        """
        params: dict[str, Any] = super().build_chat_completion_params(params_from_context)
        self._merge_extra_body(params, {"messages": params["messages"]})
        params["messages"] = []
        return params

    async def _process_context(self, context: LLMContext) -> None:
        try:
            await super()._process_context(context)
        except asyncio.CancelledError:
            self._open()
            raise
        except Exception as error:
            # pipecat also reports the error, in its own words, and decides whether the service can still be used.
            failure = reason(error, model=self._model, where=self._where)
            await self.push_frame(LLMFailureFrame(text="", reason=failure))
            raise

    def _open(self) -> None:
        """Open connections in the background."""
        if self._opening is None or self._opening.done():
            self._opening = self.create_task(self._warm_up(), "open a connection")

    async def _warm_up(self) -> None:
        # Concurrently: one after the other, all of them would use the first connection.
        opened = (warm_up(self._shared_client, model=self._model, where=self._where) for _ in range(self._connections))
        for problem in set(await asyncio.gather(*opened)) - {None}:
            log.info("%s", problem)


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
