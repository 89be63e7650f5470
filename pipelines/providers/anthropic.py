"""`provider = "anthropic"`: Claude, over Anthropic's Messages, at standard or fast speed."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pipelines.providers.keyed import KeyedTable
from pipelines.providers.provider import TierModel
from pipelines.providers.resources import Resources
from pipelines.providers.wires import NO_KEY, Speed, WireTable

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from pipecat.services.llm_service import LLMService

    from pipelines.providers.server_check import ServerState
    from pipelines.tiers.table import Tiers
    from voice.llm.anthropic.speed import FastPool
    from voice.llm.tools import Tool

log = logging.getLogger(__name__)


class AnthropicTier(KeyedTable):
    """A model of Anthropic's, or of another server that speaks its Messages."""

    whose: ClassVar[str] = "Anthropic"
    home: ClassVar[str] = "https://api.anthropic.com/v1"
    usual_key: ClassVar[str] = "ANTHROPIC_API_KEY"

    provider: Literal["anthropic"]
    base_url: str | None = None
    """The server's URL, without /v1; Anthropic's unless set."""
    speed: Speed | None = None
    """"fast" decodes faster, at a multiple of the price; the first token comes no sooner. When its own limits are used
    up, the rest of the call is answered at standard speed."""
    beta_header: str = "fast-mode-2026-02-01"
    """What the header anthropic-beta must contain for speed = "fast"; "" for nothing."""
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    """How much the model thinks before it answers; the least that is known of the model unless set."""

    def describe(self, llm: "Tiers") -> str:
        """Model, server, wire and speed."""
        return f"{self.model} at {self.where} ({', '.join(filter(None, ('messages', self.speed)))})"

    @property
    def api_url(self) -> str:
        """The URL of the server's API."""
        return self.home if self.base_url is None else f"{self.base_url.rstrip('/')}/v1"

    @property
    def protocol(self) -> Literal["chat", "responses", "messages"]:
        """Messages."""
        return "messages"

    @property
    def key_headers(self) -> dict[str, str]:
        """The version of the protocol, and the key."""
        return {"anthropic-version": "2023-06-01", "x-api-key": self.key or NO_KEY}

    async def try_server(self, *, ask: bool) -> "ServerState":
        """Whether the server is there, takes the key, knows the model and answers."""
        from pipelines.providers.server_check import check_server

        return await check_server(self, ask=ask)

    def model_of(self, llm: "Tiers", resources: Resources) -> TierModel:
        """The model on its server."""
        return MessagesModel(
            self,
            model=self.model,
            where=self.where,
            api_key=(self.key or "") if self.api_key_env else NO_KEY,
            find=self._find,
            speed=self.speed,
            beta_header=self.beta_header,
            effort=self.effort,
        )

    async def _find(self) -> str | None:
        return self.base_url


class MessagesModel:
    """A model on a server that speaks Anthropic's Messages.

    Args:
        tier: its settings.
        model: its name on the server, and in reports.
        where: the server, as reports name it.
        api_key: sent with each request.
        find: gives the server's URL, None for Anthropic; called once, at the start.
        options: of `AnthropicService`: speed, header and effort.
    """

    def __init__(
        self,
        tier: WireTable,
        *,
        model: str,
        where: str,
        api_key: str = NO_KEY,
        find: Callable[[], Awaitable[str | None]],
        **options: Any,
    ) -> None:
        self._tier, self._model, self._where, self._api_key, self._find = tier, model, where, api_key, find
        self._options = options
        self._client: AsyncAnthropic | None = None
        self._pool: FastPool | None = None

    async def start(self) -> None:
        """Find the server and open the connection that calls share."""
        # The SDK takes a second to import.
        url, _ = await asyncio.gather(self._find(), asyncio.to_thread(_import_sdk))
        from voice.llm.anthropic.client import make_client, warm_up
        from voice.llm.anthropic.speed import FastPool

        self._pool = FastPool()
        self._client = await asyncio.to_thread(
            lambda: make_client(base_url=url, api_key=self._api_key, silence=self._silence)
        )
        if problem := await warm_up(self._client, model=self._model, where=self._where):
            log.warning("%s", problem)

    def service(self, *, prompt: str, tools: "Sequence[Tool]", requests: int) -> "LLMService[Any]":
        """A call's service, with as many open connections as it may make requests at a time."""
        from voice.llm.anthropic.messages import AnthropicService

        assert self._client is not None
        return AnthropicService(
            self._client,
            model=self._model,
            prompt=prompt,
            max_tokens=self._tier.max_tokens,
            silence=self._silence,
            where=self._where,
            pool=self._pool,
            connections=requests,
            **self._options,
        )

    async def close(self) -> None:
        """Close the connection."""
        if self._client is not None:
            await self._client.close()

    @property
    def _silence(self) -> float:
        return self._tier.silence_ms / 1000


def _import_sdk() -> None:
    import voice.llm.anthropic.messages  # noqa: F401
