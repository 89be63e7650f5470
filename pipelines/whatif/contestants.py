"""The tiers that can be tried: the simulator's models, with what is known of their price and quality."""

import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import Any

from latency.record.llm.price import Price
from pipelines.whatif.contestant import Contestant, Quality
from voice.simulator.timing.profiles import Profile, load_profiles

FIGURES = "figures.toml"
DEFAULT = ("sonnet+groq-fast", "haiku", "opus", "opus-fast", "cerebras", "groq-fast")
"""A large model with a fast one that is always in time; one model at two speeds; others alone."""
DEFAULT_AUDIO = ("sonnet+groq-fast",)
"""With audio every policy takes as long as the recordings, so there is one pair."""


def contestants(preset: str) -> dict[str, Contestant]:
    """All of them, by name.

    Raises:
        ConfigurationError: there is no such preset.
    """
    text = (resources.files("pipelines.whatif") / FIGURES).read_text(encoding="utf-8")
    figures = tomllib.loads(text)
    return {name: _contestant(profile, figures.get(name, {})) for name, profile in load_profiles(preset).items()}


def _contestant(profile: Profile, figures: Mapping[str, Any]) -> Contestant:
    price, quality = figures.get("price"), figures.get("quality")
    return Contestant(
        name=profile.name,
        profile=profile,
        price=None if price is None else Price(**price),
        price_source=figures.get("price_source"),
        quality=None if quality is None else Quality(share=quality, measure=figures["quality_source"]),
    )
