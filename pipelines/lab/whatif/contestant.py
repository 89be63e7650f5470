"""The language models that take part: their latencies, prices and quality, with sources."""

from dataclasses import dataclass

from latency.record.requests import Price
from voice.simulator.timing.profiles import Profile

SIMULATED = "sim:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """How many of its answers are right."""

    share: float
    """0 to 1."""
    measure: str
    """What was counted, such as "aiewf-eval"; shares of different measures cannot be compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """A simulated language model that stands for a real one."""

    name: str
    """As `--tiers` takes it."""
    profile: Profile
    price: Price | None = None
    price_source: str | None = None
    quality: Quality | None = None

    @property
    def label(self) -> str:
        """Its name, which says that it is simulated."""
        return f"{SIMULATED}{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A policy over one tier, or over a large and a fast one."""

    policy: str
    large: Contestant
    fast: Contestant | None = None

    @property
    def tiers(self) -> dict[str, Contestant]:
        """Its tiers by role."""
        return {"large": self.large} if self.fast is None else {"large": self.large, "fast": self.fast}

    @property
    def name(self) -> str:
        """Its tiers' names."""
        return " + ".join(tier.label for tier in self.tiers.values())
