"""Models on servers: their settings, and for OpenAI's protocols their connection and the service of a call."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from pipelines.providers.provider import TierTable

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from pipecat.services.llm_service import LLMService

    from voice.llm.tools import Tool

ServiceTier = Literal["auto", "default", "flex", "priority", "fast", "ultrafast"]
"""OpenAI's speeds; "fast" is the newer name of "priority"."""
Speed = Literal["standard", "fast"]
"""Anthropic's speeds."""
NO_KEY = "none"
"""A server on this machine wants no key, but the SDK refuses to start without one."""
log = logging.getLogger(__name__)


class WireTable(TierTable):
    """A tier on a server."""

    max_tokens: Annotated[int, Field(ge=1, le=8192)] = 300
    """The longest answer, in tokens."""
    silence_ms: Annotated[int, Field(ge=100, le=120_000)] = 10_000
    """How long it may send nothing, before an answer or inside it, until its request has failed."""


class WireModel:
    """A model on a server.

    Args:
        tier: its settings.
        wire: the protocol.
        model: its name on the server, and in reports.
        where: the server, as reports name it.
        api_key: sent with each request.
        find: gives the server's base URL, None for OpenAI; called once, at the start.
        speed: the service tier that its requests ask for; None for the usual one.
        effort: how much it thinks; None for the least that pipecat knows of.
    """

    def __init__(
        self,
        tier: WireTable,
        *,
        wire: Literal["chat", "responses"],
        model: str,
        where: str,
        api_key: str = NO_KEY,
        find: Callable[[], Awaitable[str | None]],
        speed: str | None = None,
        effort: str | None = None,
    ) -> None:
        self._tier, self._model, self._where, self._api_key, self._find = tier, model, where, api_key, find
        self._wire, self._speed, self._effort = wire, speed, effort
        self._url: str | None = None
        self._client: AsyncOpenAI | None = None

    async def start(self) -> None:
        """Find the server and open the connection that calls share."""
        # The SDK takes a second to import.
        self._url, _ = await asyncio.gather(self._find(), asyncio.to_thread(_import_sdk))
        if self._wire == "responses":
            from voice.environment import proxy_for
            from voice.llm.openai.responses_socket import OPENAI

            # Its socket belongs to a call; a proxy that cannot be used is said now.
            proxy_for(self._url or OPENAI)
            return
        from voice.llm.openai.chat import make_client, warm_up

        self._client = await asyncio.to_thread(
            lambda: make_client(base_url=self._url, api_key=self._api_key, silence=self._silence)
        )
        if problem := await warm_up(self._client, model=self._model, where=self._where):
            log.warning("%s", problem)

    def service(self, *, prompt: str, tools: "Sequence[Tool]", requests: int) -> "LLMService[Any]":
        """A call's service, with as many open connections as it may make requests at a time."""
        from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema

        from voice.llm.tools import describe

        common: dict[str, Any] = {
            "model": self._model,
            "prompt": prompt,
            "max_tokens": self._tier.max_tokens,
            "where": self._where,
            "speed": self._speed,
            "effort": self._effort,
        }
        if self._wire == "responses":
            from voice.llm.openai.responses import ResponsesService

            offered = ToolsSchema(standard_tools=[describe(tool) for tool in tools]) if tools else None
            return ResponsesService(
                base_url=self._url, api_key=self._api_key, silence=self._silence, tools=offered, **common
            )
        from voice.llm.openai.chat import ChatService

        assert self._client is not None
        return ChatService(self._client, connections=requests, **common)

    async def close(self) -> None:
        """Close the connection."""
        if self._client is not None:
            await self._client.close()

    @property
    def _silence(self) -> float:
        return self._tier.silence_ms / 1000


def _import_sdk() -> None:
    import voice.llm.openai.chat  # noqa: F401
