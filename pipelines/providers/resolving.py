"""Resolves `tier = "claude-opus-4-6@fast"` in a pipeline to the settings of a provider's table."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import date
from typing import Any

from latency.command_line import did_you_mean
from latency.record.requests import Price
from voice.llm.catalog.catalog import SIM_PREFIX, Catalog, load_catalog
from voice.llm.catalog.tier import CatalogTier

CLAUSE_TOKENS = 8
"""Tokens of a first clause that can be spoken."""
IDENTITY = ("provider", "model")
"""The settings that a tier of the catalogue determines itself."""
_PROVIDERS = {"chat": "openai", "responses": "openai", "messages": "anthropic"}


class UnknownTierError(ValueError):
    """A pipeline names a tier that it cannot use; the message is a sentence without its full stop."""


def resolved(table: Mapping[str, Any], *, where: str) -> dict[str, Any]:
    """A tier's table, completed by the catalogue's settings of its `tier`; its own settings have priority.

    Args:
        table: as in the pipeline file.
        where: the table's name in errors, such as "llm.large".

    Raises:
        UnknownTierError: the catalogue has no such tier, or it is no language model.
        ConfigurationError: the user's catalogue has a mistake.
    """
    name, catalog = table["tier"], load_catalog()
    if not isinstance(name, str):
        raise UnknownTierError(f"{where}.tier must be the name of a tier, not {name!r}")
    plain = name.removeprefix(SIM_PREFIX)
    tier = catalog.find(plain) if name != plain else catalog.tiers.get(plain)
    if tier is None:
        twins = [f"{SIM_PREFIX}{known}" for known in (*catalog.tiers, *catalog.short_names)]
        guess = did_you_mean(name, twins if name != plain else catalog.tiers) or "; `voice tiers` lists the tiers"
        raise UnknownTierError(f'{where}.tier = "{name}" is not in the catalogue{guess}')
    if tier.wire not in _PROVIDERS:
        raise UnknownTierError(f'{where}.tier = "{name}" is no language model; write [llm] with provider = "responder"')
    settings = _real(tier) if name == plain else _simulated(tier, catalog)
    for key in IDENTITY:
        if key in table and table[key] != settings[key]:
            raise UnknownTierError(
                f'{where} has both tier = "{name}" and {key} = "{table[key]}"; leave one of them out'
            )
    return {**settings, **table}


def notice(tier: CatalogTier, *, today: date) -> str | None:
    """A sentence about a withdrawn tier and its successor; None if there is nothing to report."""
    if withdrawn := tier.withdrawn:
        state = "was withdrawn" if withdrawn.is_over(today) else "will be withdrawn"
        note = f": {withdrawn.note}" if withdrawn.note else ""
        return f"{tier.name} {state} ({withdrawn.since}){note}{_instead(withdrawn.successor)}."
    return f"{tier.name} cannot be ordered: {tier.closed}{_instead(tier.fallback)}." if tier.closed else None


def notice_of(name: str) -> str | None:
    """The notice of a tier that a pipeline names; a simulated one has none."""
    tier = load_catalog().tiers.get(name)
    return notice(tier, today=date.today()) if tier else None


def simulated_price(model: str) -> Price | None:
    """The price of the real model behind a simulated one, at the speed in its name."""
    tier = load_catalog().find(model)
    price = tier.own_price if tier else None
    if tier is None or tier.speed is None or price is None:
        return price
    return replace(price, speeds={tier.speed: 1})


def _instead(name: str | None) -> str:
    return f"; take {name} instead" if name else ""


def _real(tier: CatalogTier) -> dict[str, Any]:
    wire = {"wire": tier.wire} if tier.wire != "messages" else {}
    address = {"base_url": tier.base_url, "api_key_env": tier.key_env}
    return {
        "provider": _PROVIDERS[tier.wire],
        "model": tier.model,
        **wire,
        **_given(speed=tier.speed, effort=tier.effort, **address),
        **_figures(tier),
    }


def _simulated(tier: CatalogTier, catalog: Catalog) -> dict[str, Any]:
    """The twin: the model at standard speed, asked for the tier's speed, so another may be served and billed."""
    base = catalog.at_standard_speed(tier)
    model = base.sim or base.name
    return {"provider": "sim", "model": model, "wire": tier.wire, **_given(speed=tier.speed), **_figures(tier)}


def _figures(tier: CatalogTier) -> dict[str, Any]:
    """Its price, and its time to a first clause, until that has been measured."""
    figures: dict[str, Any] = {}
    if tier.price:
        price = asdict(tier.price.price)
        figures["price"] = {key: value for key, value in price.items() if value is not None}
    if tier.field and tier.rate:
        figures["p95_ms"] = round(tier.field.p95_ms + 1000 * CLAUSE_TOKENS / tier.rate.tokens_per_second)
    return figures


def _given(**settings: str | None) -> dict[str, str]:
    return {key: value for key, value in settings.items() if value is not None}
