"""The interface of a provider of language models: a tier's settings, and the part that all calls share."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Protocol

from pydantic import Field

from latency.record.requests import Price
from pipelines.providers.resources import Resources
from pipelines.settings_table import Table

if TYPE_CHECKING:
    from pipecat.services.llm_service import LLMService

    from pipelines.providers.server_check import ServerState
    from pipelines.tiers.table import Tiers
    from voice.llm.catalog.tier import Quality
    from voice.llm.tools import Tool


Amount = Annotated[float, Field(ge=0, le=1_000_000)]
"""US dollars for a million tokens."""
Factor = Annotated[float, Field(ge=0, le=1000)]


class TierModel(Protocol):
    """The part of a tier's language model that calls share; `service` gives a call its light part."""

    async def start(self) -> None:
        """Connect and warm up. A server that does not answer is only logged, because it may come back.

        Raises:
            ComponentError: something that runs on this machine is missing or broken.
        """

    def service(self, *, prompt: str, tools: "Sequence[Tool]", requests: int) -> "LLMService[Any]":
        """The pipecat service of one call; at most `requests` requests run at the same time."""

    async def close(self) -> None:
        """End every process and connection."""


class PriceTable(Table):
    """The price of a tier, in US dollars for a million tokens: `price = { input = 5, output = 25 }`."""

    input: Amount
    """Tokens of the request that were not cached."""
    output: Amount
    """Tokens of the answer, thoughts included."""
    cached_input: Amount | None = None
    """Tokens of the request that the provider had cached; the price of `input` unless set."""
    cache_write: Amount | None = None
    """Tokens of the request that the provider writes to its cache; the price of `input` unless set."""
    speeds: dict[str, Factor] = {}
    """The prices of other speeds, as multiples of the usual one: `speeds = { fast = 6 }`."""

    def price(self) -> Price:
        """The price that requests are billed at."""
        return Price(**self.model_dump())


class TierTable(Table, ABC):
    """The table of a tier, such as `[llm.large]`."""

    provider: str
    tier: str | None = None
    """Its tier in the catalogue, such as "claude-opus-4-6@fast", or "sim:claude-opus-4-6@fast" for the simulated twin.
    It gives the other settings (see `voice tiers`), unless they are set here."""
    p95_ms: Annotated[int, Field(ge=10, le=60_000)] | None = None
    """The time of its first clause, 95th percentile; assumed until enough has been measured."""
    price: PriceTable | None = None
    """The price of its tokens; unknown unless set."""

    @property
    def billing(self) -> Price | None:
        """The price that requests are billed at; None if unknown."""
        return self.price.price() if self.price else None

    @property
    def quality(self) -> "Quality | None":
        """How often its answers are right, by the catalogue; None for a tier outside it, or without a figure."""
        from voice.llm.catalog.catalog import SIM_PREFIX, load_catalog

        known = load_catalog().find(self.tier.removeprefix(SIM_PREFIX)) if self.tier else None
        return known.quality if known else None

    @property
    def notice(self) -> str | None:
        """A sentence about its tier in the catalogue if it is withdrawn or cannot be ordered."""
        from pipelines.providers.resolving import notice_of

        return notice_of(self.tier) if self.tier else None

    @property
    @abstractmethod
    def label(self) -> str:
        """The model's name in reports; that of a simulated one begins with "sim:"."""

    @abstractmethod
    def describe(self, llm: "Tiers") -> str:
        """The model and its server, as the report's list of components shows them."""

    @property
    @abstractmethod
    def summary(self) -> str:
        """The model in a few words, as `voice check` shows it."""

    def needs(self) -> list[str]:
        """The parts missing on this machine, each with the way to get it. Nothing is downloaded, no server asked."""
        return []

    def missing_server(self) -> str | None:
        """The server on this machine or near it that does not answer; None if there is none."""
        return None

    async def try_server(self, *, ask: bool) -> "ServerState | None":
        """Whether the tier's server works; a paid one is asked for a token only if `ask` is set.

        None when no server needs to be tried.
        """
        return None

    @property
    def lacks_key(self) -> bool:
        """Whether the API key that requests need is missing."""
        return False

    def check(self, name: str, llm: "Tiers") -> None:
        """Refuse settings that cannot work, before anything starts.

        Args:
            name: the name of this tier.
            llm: the table that contains it.

        Raises:
            ConfigurationError: there is no such model.
            ComponentError: a key is not set.
        """

    @abstractmethod
    def model_of(self, llm: "Tiers", resources: Resources) -> TierModel:
        """The model as set, not started yet; it opens resources shared with other tiers in `resources`."""
