"""`provider = "anthropic"`: Claude, over Anthropic's Messages, at standard or fast speed."""

from typing import Any, ClassVar, Literal

from pipelines.providers.remote_tier import RemoteTierTable
from pipelines.providers.wires import NO_KEY, Speed, Wire


class AnthropicTier(RemoteTierTable):
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
    """The value that the header anthropic-beta must contain for speed = "fast"; "" for none."""
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    """How much the model thinks before it answers; the model's lowest known effort unless set."""

    @property
    def api_url(self) -> str:
        """The URL of the server's API."""
        return self.home if self.base_url is None else f"{self.base_url.rstrip('/')}/v1"

    @property
    def protocol(self) -> Wire:
        """Messages."""
        return "messages"

    @property
    def options(self) -> dict[str, Any]:
        """Speed, its header, and effort."""
        return {"speed": self.speed, "beta_header": self.beta_header, "effort": self.effort}

    @property
    def key_headers(self) -> dict[str, str]:
        """The version of the protocol, and the key."""
        return {"anthropic-version": "2023-06-01", "x-api-key": self.key or NO_KEY}
