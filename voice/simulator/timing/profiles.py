"""The simulated models' published figures, read from profiles.toml."""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from voice.errors import ConfigurationError

PRESETS = ("field", "optimistic")
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
        speeds: what `tokens_per_s` is multiplied by at a speed that the request asks for, by its name.
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
    """Load all profiles, by name, with the figures of a preset.

    Raises:
        ConfigurationError: there is no such preset.
    """
    if preset not in PRESETS:
        raise ConfigurationError(f"There is no preset {preset}; choose one of {', '.join(PRESETS)}.")
    text = (resources.files("voice.simulator.timing") / "profiles.toml").read_text(encoding="utf-8")
    tables = tomllib.loads(text)
    defaults = tables.pop("defaults")
    return {name: _profile(name, {**defaults, **table}, preset) for name, table in tables.items()}


def _profile(name: str, table: Mapping[str, Any], preset: str) -> Profile:
    first = table.get(preset, table["field"])
    return Profile(
        name=name,
        stands_for=table["stands_for"],
        provider=table["provider"],
        p50=first["p50_ms"] / 1000,
        p95=first["p95_ms"] / 1000,
        longest=first["max_ms"] / 1000,
        tokens_per_s=table["tokens_per_s"],
        rtt=table["rtt_ms"] / 1000,
        prefill_tokens_per_s=table["prefill_tokens_per_s"],
        error_rate=table["error_rate"],
        stall_rate=table["stall_rate"],
        speeds=table["speeds"],
        source=first["source"],
        rate_source=table["rate_source"],
    )
