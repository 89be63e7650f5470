"""Models on servers: their settings, their connection, and the service of a call."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from pipelines.providers.provider import TierTable

if TYPE_CHECKING:
    from pipecat.services.llm_service import LLMService

    from voice.llm.tools import Tool
    from voice.llm.wires.anthropic.speed import FastPool

Wire = Literal["chat", "responses", "messages"]
"""OpenAI's Chat Completions and Responses, Anthropic's Messages."""
ServiceTier = Literal["auto", "default", "flex", "priority", "fast", "ultrafast"]
"""OpenAI's speeds; "fast" is the newer name of "priority"."""
Speed = Literal["standard", "fast"]
"""Anthropic's speeds."""
NO_KEY = "none"
"""A server on this machine needs no key, but the SDK refuses to start without one."""
log = logging.getLogger(__name__)


class WireTable(TierTable):
    """A tier on a server."""

    max_tokens: Annotated[int, Field(ge=1, le=8192)] = 300
    """The longest answer, in tokens."""
    silence_ms: Annotated[int, Field(ge=100, le=120_000)] = 10_000
    """How long a request may receive nothing, before its answer or inside it, until it has failed."""


class WireModel:
    """A model on a server.

    Args:
        tier: its settings.
        wire: the protocol.
        model: its name on the server, and in reports.
        where: the server, as reports name it.
        api_key: sent with each request.
        headers: further headers of each request.
        find: gives the server's base URL, None for the provider's own; called once, at the start.
        options: of the wire's service, such as `speed` and `effort`.
    """

    def __init__(
        self,
        tier: WireTable,
        *,
        wire: Wire,
        model: str,
        where: str,
        api_key: str = NO_KEY,
        headers: Mapping[str, str] | None = None,
        find: Callable[[], Awaitable[str | None]],
        **options: Any,
    ) -> None:
        self._tier, self._model, self._where, self._api_key, self._find = tier, model, where, api_key, find
        self._wire, self._headers, self._options = wire, headers, options
        self._url: str | None = None
        self._client: Any = None
        self._pool: FastPool | None = None

    async def start(self) -> None:
        """Find the server and open the connection that calls share."""
        # The SDK takes a second to import.
        self._url, _ = await asyncio.gather(self._find(), asyncio.to_thread(_import_service, self._wire))
        from voice.llm.wires.connections import OPENAI, warm_up

        if self._wire == "responses":
            from voice.environment import proxy_for

            # Its socket belongs to a call, but an unusable proxy is reported now.
            proxy_for(self._url or OPENAI)
            return
        self._client = await asyncio.to_thread(self._make_client)
        if problem := await warm_up(self._client, model=self._model, where=self._where):
            log.warning("%s", problem)

    def service(self, *, prompt: str, tools: "Sequence[Tool]", requests: int) -> "LLMService[Any]":
        """A call's service, with an open connection for each of its simultaneous requests."""
        common: dict[str, Any] = {
            "model": self._model,
            "prompt": prompt,
            "max_tokens": self._tier.max_tokens,
            "where": self._where,
            **self._options,
        }
        match self._wire:
            case "chat":
                from voice.llm.wires.chat.service import ChatService

                return ChatService(self._client, connections=requests, **common)
            case "messages":
                from voice.llm.wires.anthropic.service import AnthropicService

                return AnthropicService(
                    self._client, connections=requests, silence=self._silence, pool=self._pool, **common
                )
            case "responses":
                from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema

                from voice.llm.tools import describe
                from voice.llm.wires.responses.service import ResponsesService

                offered = ToolsSchema(standard_tools=[describe(tool) for tool in tools]) if tools else None
                return ResponsesService(tools=offered, **self._server, **common)

    async def close(self) -> None:
        """Close the connection."""
        if self._client is not None:
            await self._client.close()

    @property
    def _silence(self) -> float:
        return self._tier.silence_ms / 1000

    @property
    def _server(self) -> dict[str, Any]:
        """The arguments of a client."""
        return {
            "base_url": self._url,
            "api_key": self._api_key,
            "headers": self._headers,
            "silence": self._silence,
        }

    def _make_client(self) -> Any:
        if self._wire == "chat":
            from voice.llm.wires.chat.service import make_client

            return make_client(**self._server)
        from voice.llm.wires.anthropic import service
        from voice.llm.wires.anthropic.speed import FastPool

        self._pool = FastPool()
        return service.make_client(**self._server)


def _import_service(wire: Wire) -> None:
    match wire:
        case "chat":
            import voice.llm.wires.chat.service
        case "messages":
            import voice.llm.wires.anthropic.service
        case "responses":
            import voice.llm.wires.responses.service  # noqa: F401
