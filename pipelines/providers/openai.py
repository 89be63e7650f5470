"""`provider = "openai"`: any server that speaks OpenAI's protocols, OpenAI's own or one on this machine."""

import os
from typing import TYPE_CHECKING, Literal

from pipelines.providers.provider import TierModel
from pipelines.providers.resources import Resources
from pipelines.providers.wires import NO_KEY, WireModel, WireTable
from voice.errors import ComponentError

if TYPE_CHECKING:
    from pipelines.checking.server_check import ServerState
    from pipelines.providers.tiers import Tiers


class OpenAITier(WireTable):
    """Any server that speaks OpenAI's protocols."""

    provider: Literal["openai"]
    model: str
    """The model's name on the server."""
    base_url: str | None = None
    """The server's URL; OpenAI's unless set."""
    api_key_env: str | None = None
    """The environment variable that holds the API key."""

    @property
    def label(self) -> str:
        """The model's name on the server."""
        return self.model

    @property
    def where(self) -> str:
        """The server, as people read it."""
        return self.base_url or "OpenAI"

    @property
    def lacks_key(self) -> bool:
        """Whether requests would be made without the key that they need."""
        return not os.environ.get(self.api_key_env) if self.api_key_env else self.base_url is None

    @property
    def summary(self) -> str:
        """The model."""
        return self.model

    def describe(self, llm: "Tiers") -> str:
        """Model, server and wire."""
        return f"{self.model} at {self.where} ({self.wire})"

    def needs(self) -> list[str]:
        """A key."""
        if not self.lacks_key:
            return []
        if self.api_key_env:
            return [f"the environment variable {self.api_key_env} is not set; it should hold the API key"]
        return ['no API key is named: name its environment variable, such as api_key_env = "OPENAI_API_KEY"']

    def missing_server(self) -> str | None:
        """A server at an http address that lists no models."""
        from pipelines.checking.local_servers import first_model

        if self.base_url is None or not self.base_url.startswith("http://") or first_model(self.base_url) is not None:
            return None
        return f"a language model server at {self.base_url}, for example `ollama serve`"

    async def try_server(self, *, ask: bool) -> "ServerState":
        """Whether the server is there, takes the key, knows the model and answers."""
        from pipelines.checking.server_check import check_server

        return await check_server(self, ask=ask)

    def check(self, name: str, llm: "Tiers") -> None:
        """Refuse a key that is not set, naming the variable and what works without one."""
        if not self.lacks_key:
            return
        if self.api_key_env is None:
            raise ComponentError(
                f"llm.{name}: {self.model} at {self.where} needs a key; say which environment variable holds it, such "
                'as api_key_env = "OPENAI_API_KEY", or give the base_url of a server that wants none.'
            )
        keyless = [other for other, tier in llm.tiers.items() if other != name and not tier.lacks_key]
        without = "".join(f'[llm.{other}] works without it (policy = "single"), and ' for other in keyless)
        raise ComponentError(
            f"llm.{name}: {self.model} needs a key in the environment variable {self.api_key_env}, which is not set; "
            f"{without}the pipelines embedded and local work without one."
        )

    def model_of(self, llm: "Tiers", resources: Resources) -> TierModel:
        """The model on its server."""
        key = os.environ.get(self.api_key_env, "") if self.api_key_env else NO_KEY
        return WireModel(self, model=self.model, where=self.where, api_key=key, find=self._find)

    async def _find(self) -> str | None:
        return self.base_url
