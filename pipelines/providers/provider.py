"""What the pipeline needs of a provider of language models: a tier's settings, and the part that all calls share."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Protocol

from pydantic import Field

from latency.record.requests import Price
from pipelines.providers.resources import Resources
from pipelines.table import Table

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
    """A language model as a tier: what calls share of it. `service` gives a call its light part."""

    async def start(self) -> None:
        """Connect and warm up. A server that does not answer is logged: it may come back.

        Raises:
            ComponentError: something that runs on this machine is missing or broken.
        """

    def service(self, *, prompt: str, tools: "Sequence[Tool]", requests: int) -> "LLMService[Any]":
        """The pipecat service of one call; `requests` of it may run at a time."""

    async def close(self) -> None:
        """End every process and connection."""


class PriceTable(Table):
    """The price of a tier, in US dollars for a million tokens: `price = { input = 5, output = 25 }`."""

    input: Amount
    """Tokens of the request that were not cached."""
    output: Amount
    """Tokens of the answer, thoughts included."""
    cached_input: Amount | None = None
    """Tokens of the request that the provider had cached; as `input` unless set."""
    cache_write: Amount | None = None
    """Tokens of the request that the provider puts into its cache; as `input` unless set."""
    speeds: dict[str, Factor] = {}
    """What other speeds cost, as multiples of the price of the usual one: `speeds = { fast = 6 }`."""

    def price(self) -> Price:
        """The price that requests are billed at."""
        return Price(**self.model_dump())


class TierTable(Table, ABC):
    """The table of a tier, such as `[llm.large]`."""

    provider: str
    tier: str | None = None
    """The tier of the catalogue that it is, such as "claude-opus-4-6@fast", or "sim:claude-opus-4-6@fast" for its
    simulated twin: the other settings are as `voice tiers` has them, unless set here."""
    p95_ms: Annotated[int, Field(ge=10, le=60_000)] | None = None
    """How long its first clause takes in 95 of 100 requests; assumed until enough has been measured."""
    price: PriceTable | None = None
    """What its tokens cost; None when that is not known."""

    @property
    def billing(self) -> Price | None:
        """What requests are billed at; None when that is not known."""
        return self.price.price() if self.price else None

    @property
    def quality(self) -> "Quality | None":
        """How often its answers are right, as the catalogue has it; None for a tier of none, or without a figure."""
        from voice.llm.catalog.catalog import SIM_PREFIX, load_catalog

        known = load_catalog().find(self.tier.removeprefix(SIM_PREFIX)) if self.tier else None
        return known.quality if known else None

    @property
    def notice(self) -> str | None:
        """A sentence about its tier in the catalogue if that is withdrawn or cannot be ordered."""
        from pipelines.providers.resolving import notice_of

        return notice_of(self.tier) if self.tier else None

    @property
    @abstractmethod
    def label(self) -> str:
        """The model, as reports name it; one that is simulated begins with "sim:"."""

    @abstractmethod
    def describe(self, llm: "Tiers") -> str:
        """The model and where it runs, as the report's list of components shows it."""

    @property
    @abstractmethod
    def summary(self) -> str:
        """The model in a few words, as `voice check` shows it."""

    def needs(self) -> list[str]:
        """What is not on this machine, each with how to get it. Nothing is downloaded, and no server asked."""
        return []

    def missing_server(self) -> str | None:
        """The server that should be on this machine or near it and does not answer; None for none."""
        return None

    async def try_server(self, *, ask: bool) -> "ServerState | None":
        """Whether the tier's server works: it may be asked for a token, a paid one only if `ask` is set.

        None when no server needs to be tried.
        """
        return None

    @property
    def lacks_key(self) -> bool:
        """Whether requests would be made without the API key that they need."""
        return False

    def check(self, name: str, llm: "Tiers") -> None:
        """Refuse, before anything starts, what could not work.

        Args:
            name: of this tier.
            llm: the table that it is part of.

        Raises:
            ConfigurationError: there is no such model.
            ComponentError: a key is not set.
        """

    @abstractmethod
    def model_of(self, llm: "Tiers", resources: Resources) -> TierModel:
        """The model as set; not started yet. What it shares with other tiers it opens in `resources`."""
