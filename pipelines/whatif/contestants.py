"""The tiers that can be tried: the simulator's models, with what is known of their price and quality."""

from pipelines.whatif.contestant import Contestant
from voice.simulator.timing.profiles import load_profiles

DEFAULT = ("opus+groq-fast", "opus-fast+groq-fast", "opus-fast+cerebras", "sonnet+groq-fast", "cerebras", "groq-fast")
DEFAULT_AUDIO = ("opus+groq-fast",)
"""With audio every policy takes as long as the recordings, so there is one pair."""


def contestants(preset: str) -> dict[str, Contestant]:
    """All of them, by name.

    Raises:
        ConfigurationError: there is no such preset.
    """
    return {name: Contestant(name=name, profile=profile) for name, profile in load_profiles(preset).items()}
