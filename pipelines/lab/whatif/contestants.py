"""The language models in the comparison, with figures of the catalogue, and the policies to try with them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from latency.command_line import did_you_mean
from latency.record.requests import Price
from pipelines.lab.simulator.profiles import Profile, load_profiles
from voice.errors import ConfigurationError
from voice.llm.catalog.catalog import SIM_PREFIX, load_catalog
from voice.llm.catalog.tier import CatalogTier
from voice.llm.policy.make import POLICIES, make_policy

DEFAULT = ("sonnet+groq-fast", "haiku", "opus", "opus-fast", "cerebras", "groq-fast")
"""A large model with a fast one that is always in time; one model at two speeds; others alone."""
DEFAULT_AUDIO = ("sonnet+groq-fast",)
"""With audio every policy takes as long as the recordings, so there is one pair."""
PAIR = "+"
"""Stands between the large and the fast tier of a pair."""
EXAMPLE = f"sonnet{PAIR}groq-fast"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """The share of its answers that are right."""

    share: float
    """0 to 1."""
    measure: str
    """The measure, such as "aiewf-eval"; shares of different measures cannot be compared."""


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
        return f"{SIM_PREFIX}{self.name}"


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


def contestants(preset: str) -> dict[str, Contestant]:
    """All that the simulator has, by name.

    Raises:
        ConfigurationError: there is no such preset, or the user's catalogue has a mistake.
    """
    catalog = load_catalog()
    return {name: _contestant(name, profile, catalog.find(name)) for name, profile in load_profiles(preset).items()}


def _contestant(name: str, profile: Profile, tier: CatalogTier | None) -> Contestant:
    price, quality = (tier.own_price, tier.quality) if tier else (None, None)
    return Contestant(
        name=name,
        profile=profile,
        price=price,
        price_source=tier.price.source if tier and tier.price and price else None,
        quality=Quality(share=quality.share, measure=quality.benchmark) if quality else None,
    )


def usual_policies(entries: Sequence[str]) -> tuple[str, ...]:
    """The policies to try with these tiers unless others are named."""
    # With two tiers, hedging one of them adds little.
    return (
        ("single", "fallback", "routed", "relay", "adaptive")
        if any(PAIR in entry for entry in entries)
        else ("single", "hedged")
    )


def cells(entries: Sequence[str], policies: Sequence[str], known: Mapping[str, Contestant]) -> list[Cell]:
    """Every policy over every tier or pair that it fits; a lone tier's policy uses the large tier of a pair.

    Args:
        entries: tiers and pairs, as `--tiers` takes them: "opus" or "opus+groq-fast".
        policies: names of policies.
        known: the tiers there are, by name.

    Raises:
        ConfigurationError: an unknown tier or policy, or one that nothing fits.
    """
    for policy in policies:
        if policy not in POLICIES:
            meant = did_you_mean(policy, POLICIES) or f"; use one of {', '.join(POLICIES)}."
            raise ConfigurationError(f'there is no policy "{policy}"{meant}')
    found: dict[tuple[str, str | None, str], Cell] = {}
    pairs = [_pair(entry, known) for entry in entries]
    for policy in policies:
        fitting = [cell for large, fast in pairs if (cell := _cell(policy, large, fast)) is not None]
        if not fitting:
            raise ConfigurationError(
                f"the policy {policy} needs two tiers: write a pair such as {EXAMPLE}, or leave it out."
            )
        for cell in fitting:
            key = (cell.large.name, cell.fast.name if cell.fast else None, cell.policy)
            found.setdefault(key, cell)
    order = {cell.name: place for place, cell in reversed(list(enumerate(found.values())))}
    chosen = sorted(found.values(), key=lambda cell: (order[cell.name], list(policies).index(cell.policy)))
    for large, fast in pairs:
        if not any(cell.large is large and (fast is None or cell.fast is fast) for cell in chosen):
            asked = large.name if fast is None else f"{large.name}{PAIR}{fast.name}"
            raise ConfigurationError(f"no policy of {', '.join(policies)} fits {asked}; add single or hedged.")
    return chosen


def _cell(policy: str, large: Contestant, fast: Contestant | None) -> Cell | None:
    """The policy over these tiers; None when it needs two and there is one."""
    try:
        make_policy(policy, large="large", fast=None)
    except ConfigurationError:
        return None if fast is None else Cell(policy=policy, large=large, fast=fast)
    return Cell(policy=policy, large=large)


def _pair(entry: str, known: Mapping[str, Contestant]) -> tuple[Contestant, Contestant | None]:
    names = [name.strip().removeprefix(SIM_PREFIX) for name in entry.split(PAIR)]
    if len(names) > 2 or not all(names):
        raise ConfigurationError(f'--tiers takes a tier or a pair such as {EXAMPLE}, not "{entry}".')
    for name in names:
        if name not in known:
            meant = did_you_mean(name, known) or f"; choose one of {', '.join(known)}."
            raise ConfigurationError(f'there is no tier "{name}"{meant}')
    return known[names[0]], known[names[1]] if len(names) == 2 else None
