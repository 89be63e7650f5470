"""The spending caps of a pipeline: the prices they need, and the tier that answers when a cap is reached."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from latency.record.requests import Price, Tokens
from voice.cache import user_cache
from voice.errors import ConfigurationError
from voice.llm.spending.day_spending import DaySpending
from voice.llm.spending.ledger import Caps

if TYPE_CHECKING:
    from pipelines.providers.provider import TierTable
    from pipelines.tiers.table import Tiers
    from voice.llm.spending.spending import Spending

UNREAL = ("sim:", "scripted:")
TYPICAL = Tokens(prompt=600, completion=40)
"""A short answer in a call of some length; the tier with the least cost for it is the cheapest."""


class CappedTiers:
    """The caps of a pipeline, shared by its calls.

    Args:
        llm: the pipeline's language models.

    Raises:
        ConfigurationError: a tier has no price, so its requests cannot be counted.
    """

    def __init__(self, llm: "Tiers") -> None:
        self._caps = Caps(per_call=llm.cap_usd_per_call, per_day=llm.cap_usd_per_day)
        prices = {name: _price(name, tier) for name, tier in llm.tiers.items()}
        self._cheapest, self._is_cheaper = cheapest(prices, large=llm.large, fast=llm.fast)
        # Simulated costs must not use up the cap of real ones.
        simulated = all(tier.label.startswith(UNREAL) for tier in llm.tiers.values())
        file = user_cache() / ("spending-simulated.json" if simulated else "spending.json")
        self._day = DaySpending(file) if self._caps.per_day is not None else None

    async def start(self) -> None:
        """Read today's spending.

        Raises:
            ComponentError: it cannot be stored.
        """
        if self._day:
            await self._day.start()

    def call(self) -> "Spending":
        """The spending of a new call."""
        from voice.llm.spending.spending import Spending

        return Spending(self._caps, cheapest=self._cheapest, is_cheaper=self._is_cheaper, day=self._day)

    async def close(self) -> None:
        """Store today's spending."""
        if self._day:
            await self._day.close()


def capped_tiers(llm: "Tiers") -> CappedTiers | None:
    """The caps of a pipeline; None for one without.

    Raises:
        ConfigurationError: a tier has no price.
    """
    return None if llm.cap_usd_per_call is None and llm.cap_usd_per_day is None else CappedTiers(llm)


def cheapest(prices: Mapping[str, Price], *, large: str | None, fast: str | None) -> tuple[str, bool]:
    """The tier that answers when a cap is reached, and whether it is cheaper than the tiers in the two roles.

    It is the fast one if that is cheaper than the large one, because it is also quick; otherwise the cheapest of all.
    """
    usd = {name: price.usd(TYPICAL) or 0.0 for name, price in prices.items()}
    if large is not None and fast is not None and usd[fast] < usd[large]:
        return fast, True
    least = min(usd, key=lambda name: usd[name])
    return least, any(usd[least] < usd[role] for role in (large, fast) if role is not None)


def _price(name: str, tier: "TierTable") -> Price:
    """The price of requests to the tier at the speed that they ask for."""
    if tier.billing is None:
        raise ConfigurationError(
            f"A spending cap needs the price of every tier, and that of llm.{name} is not known: add "
            f"price = {{ input = 5, output = 25 }} to [llm.{name}], in US dollars for a million tokens (0 for a model "
            "of your own)."
        )
    # Not every kind of tier can be asked for a speed.
    speed: str | None = getattr(tier, "speed", None)
    price = tier.billing.at(speed)
    if price is None:
        raise ConfigurationError(
            f"A spending cap needs the price of llm.{name} at the speed {speed}: add speeds = {{ {speed} = 2 }} to its "
            "price, as a multiple of the usual one."
        )
    return price
