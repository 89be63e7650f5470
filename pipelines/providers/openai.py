"""`provider = "openai"`: any server that speaks OpenAI's protocols, OpenAI's own or one on this machine.

Its address, key, headers and limits are those of every tier on a server (`pipelines.providers.remote_tier`).
"""

from typing import Any, ClassVar, Literal

from pipelines.providers.remote_tier import RemoteTierTable
from pipelines.providers.wires import ServiceTier, Wire


class OpenAITier(RemoteTierTable):
    """Any server that speaks OpenAI's protocols."""

    whose: ClassVar[str] = "OpenAI"
    home: ClassVar[str] = "https://api.openai.com/v1"
    usual_key: ClassVar[str] = "OPENAI_API_KEY"

    provider: Literal["openai"]
    wire: Literal["chat", "responses"] = "chat"
    """Chat Completions on a kept-alive connection, or Responses over a WebSocket that is kept open."""
    speed: ServiceTier | None = None
    """The service tier to ask for, such as "fast"; the provider's usual one unless set. It is billed at the provider's
    price, and the provider may serve another one, which the report then shows."""
    effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None = None
    """How much the model thinks before it answers; the model's lowest known effort unless set."""

    @property
    def api_url(self) -> str:
        """The URL of the server's API."""
        return (self.base_url or self.home).rstrip("/")

    @property
    def protocol(self) -> Wire:
        """The wire."""
        return self.wire

    @property
    def options(self) -> dict[str, Any]:
        """Speed and effort."""
        return {"speed": self.speed, "effort": self.effort}

    def missing_server(self) -> str | None:
        """The server at an http address if it lists no models."""
        from pipelines.providers.local_servers import first_model

        if self.base_url is None or not self.base_url.startswith("http://") or first_model(self.base_url) is not None:
            return None
        return f"a language model server at {self.base_url}, for example `ollama serve`"
