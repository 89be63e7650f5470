"""The tiers that can be tried: the simulator's models, with the catalogue's figures of their price and quality."""

from pipelines.lab.whatif.contestant import Contestant, Quality
from voice.llm.catalog.catalog import load_catalog
from voice.llm.catalog.tier import CatalogTier
from voice.simulator.timing.profiles import Profile, load_profiles

DEFAULT = ("sonnet+groq-fast", "haiku", "opus", "opus-fast", "cerebras", "groq-fast")
"""A large model with a fast one that is always in time; one model at two speeds; others alone."""
DEFAULT_AUDIO = ("sonnet+groq-fast",)
"""With audio every policy takes as long as the recordings, so there is one pair."""


def contestants(preset: str) -> dict[str, Contestant]:
    """All of them, by name.

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
