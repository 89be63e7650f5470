"""What a tier's tokens cost, as a pipeline file says it."""

from typing import Annotated

from pydantic import Field

from latency.record.requests import Price
from pipelines.table import Table

Amount = Annotated[float, Field(ge=0, le=1_000_000)]
"""US dollars for a million tokens."""
Factor = Annotated[float, Field(ge=0, le=1000)]


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
