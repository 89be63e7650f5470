"""The simulated models: the figures of the catalogue's tiers, and assumptions about their providers' networks."""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from latency.record.requests import same_name
from voice.errors import ConfigurationError
from voice.llm.catalog.catalog import STEADY, Catalog, load_catalog
from voice.llm.catalog.tier import CatalogTier, Preset

PRESETS: tuple[Preset, ...] = ("field", "optimistic")
_P95 = 1.645  # standard deviations from the median to the 95th percentile


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The latency figures of one model.

    Parameters:
        name: its name in requests, without "sim:".
        stands_for: the real model and its settings.
        provider: the provider; its models share their stalls.
        p50: median time from request to first answer token on an open connection with a cached prefix, seconds.
        p95: its 95th percentile, seconds.
        longest: the longest published time, seconds; no draw is longer.
        tokens_per_s: output rate after the first token.
        rtt: network round trip, seconds; part of `p50`. Opening a connection takes several.
        prefill_tokens_per_s: rate at which tokens that are missing from the prefix cache are read.
        error_rate: share of calls that end with a server error.
        stall_rate: share of calls that stall.
        speeds: the factor on `tokens_per_s` for each speed that a request may ask for, by its name.
        source: source of the first-token figures.
        rate_source: source of the output rate.
    """

    name: str
    stands_for: str
    provider: str
    p50: float
    p95: float
    longest: float
    tokens_per_s: float
    rtt: float
    prefill_tokens_per_s: float
    error_rate: float
    stall_rate: float
    speeds: Mapping[str, float]
    source: str
    rate_source: str

    @property
    def sigma(self) -> float:
        """Standard deviation of the logarithm of the time to first token."""
        return math.log(self.p95 / self.p50) / _P95


def load_profiles(preset: str) -> dict[str, Profile]:
    """Load all profiles with the figures of a preset, by the tiers' names and their short names.

    Raises:
        ConfigurationError: there is no such preset, or the user's catalogue has a mistake.
    """
    chosen = next((known for known in PRESETS if known == preset), None)
    if chosen is None:
        raise ConfigurationError(f"There is no preset {preset}; choose one of {', '.join(PRESETS)}.")
    catalog = load_catalog()
    profiles = {name: _profile(tier, catalog, chosen) for name, tier in catalog.simulated(chosen).items()}
    return {**profiles, STEADY: _steady()}


@cache
def _assumed() -> dict[str, dict[str, Any]]:
    text = (resources.files("pipelines.lab.simulator") / "profiles.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def _network(provider: str) -> dict[str, Any]:
    """The assumptions about a provider's network and servers."""
    figures = {**_assumed()["defaults"], **_assumed().get(provider, {})}
    return {"rtt": figures.pop("rtt_ms") / 1000, **figures}


def _profile(tier: CatalogTier, catalog: Catalog, preset: Preset) -> Profile:
    """The simulated twin of a tier whose figures are known."""
    first, rate = tier.first_token(preset), tier.rate
    assert first is not None
    assert rate is not None
    network = _network(tier.provider)
    return Profile(
        name=tier.sim or tier.name,
        stands_for=tier.title,
        provider=tier.provider,
        p50=first.p50_ms / 1000,
        p95=first.p95_ms / 1000,
        longest=first.max_ms / 1000,
        tokens_per_s=rate.tokens_per_second,
        source=first.source,
        rate_source=rate.source,
        **{**network, "speeds": {**network["speeds"], **_speeds(tier, catalog)}},
    )


def _speeds(tier: CatalogTier, catalog: Catalog) -> dict[str, float]:
    """How much faster the same model is at its other speeds; empty for a tier that already has one of those."""
    assert tier.rate is not None
    known = {tier.speed: 1.0} if tier.speed else {}
    for faster in catalog.faster(tier):
        if faster.speed and faster.rate:
            known[faster.speed] = faster.rate.tokens_per_second / tier.rate.tokens_per_second
    # The wires report some speeds by another name.
    return known | {
        name: known[same_name(name)] for name in _assumed()["defaults"]["speeds"] if same_name(name) in known
    }


def _steady() -> Profile:
    return Profile(
        name=STEADY,
        stands_for="a server without variation, for tests",
        provider="none",
        p50=0.1,
        p95=0.1,
        longest=0.1,
        tokens_per_s=200,
        source="chosen",
        rate_source="chosen",
        **_network("none"),
    )
