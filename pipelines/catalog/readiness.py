"""Finds out whether a tier of the catalogue can run on this machine now, and if not, why."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date

from pipelines.providers.resolving import notice
from voice.environment import read_key
from voice.errors import ConfigurationError
from voice.llm.catalog.tier import CatalogTier


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether a tier can run.

    Parameters:
        ready: whether nothing is missing. Only `voice check` finds out whether a provider accepts the key.
        text: the model that was found, or the missing part and the remedy; no full stop.
    """

    ready: bool
    text: str


def readiness(
    tier: CatalogTier,
    *,
    today: date,
    environment: Mapping[str, str] = os.environ,
    first_model: Callable[[str], str | None] | None = None,
) -> Readiness:
    """Whether a tier can run. Servers on this machine are asked for their models; no request leaves the machine.

    Args:
        tier: the tier.
        today: tells whether a withdrawal is in the future.
        environment: holds the API keys.
        first_model: gives a model that the server at an address lists, or None.
    """
    told = notice(tier, today=today)
    told = told.removesuffix(".").removeprefix(f"{tier.name} ") if told else None
    if told and (tier.closed or (tier.withdrawn and tier.withdrawn.is_over(today))):
        return Readiness(False, told)
    found = _found(tier, environment, first_model)
    return Readiness(found.ready, f"{found.text}; {told}") if told else found


def _found(
    tier: CatalogTier, environment: Mapping[str, str], first_model: Callable[[str], str | None] | None
) -> Readiness:
    if tier.wire == "rules":
        return Readiness(True, "always here")
    if tier.key_env:
        try:
            key = read_key(tier.key_env, environment) if environment.get(tier.key_env) else None
        except ConfigurationError as error:
            return Readiness(False, str(error).rstrip("."))
        if key:
            return Readiness(True, f"{tier.key_env} is set")
        return Readiness(False, f"set {tier.key_env}")
    if tier.base_url is None:
        return Readiness(False, "its server is not known; set base_url")
    model = (first_model or _ask)(tier.base_url)
    if model is None:
        return Readiness(False, f"no server lists models at {tier.base_url}")
    return Readiness(True, f"{tier.base_url} answers and has {model}")


def _ask(url: str) -> str | None:
    # Its HTTP client takes a tenth of a second to import.
    from pipelines.providers.local_servers import first_model

    return first_model(url)
