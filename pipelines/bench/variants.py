"""Which agents a benchmark compares: a table in variants.toml, so that one more is a line or two there."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from latency.command_line import did_you_mean
from pipelines.settings import load
from voice.errors import ConfigurationError

TABLE = Path(__file__).with_name("variants.toml")
BASELINE = "stock-pipecat"
"""The variant that the others are compared with."""
FAST_URL = "{fast_url}"
"""Stands in a variant's settings for the address of the fast model."""
PEER_PACKAGES = {"stock-pipecat": "pipecat-ai", "livekit-agents": "livekit-agents"}
"""What a bot is made with."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One agent.

    Parameters:
        name: in tables and folders.
        about: what it is, in words.
        settings: `key=value` overrides of our local pipeline.
        bot: the peer's bot; None for our agent.
        without: the piece of [ours] that it lacks, in words; None when it is no such trial.
    """

    name: str
    about: str
    settings: tuple[str, ...] = ()
    bot: str | None = None
    without: str | None = None

    @property
    def missing(self) -> str | None:
        """Why it cannot take part here and how it could, in a sentence; None when it can."""
        package = PEER_PACKAGES.get(self.bot or "")
        try:
            if package:
                version(package)
        except PackageNotFoundError:
            return f"{package} is not installed; pip install '.[peers]'"
        return None


def read_variants(path: Path = TABLE) -> list[Variant]:
    """All variants of a table.

    Raises:
        ConfigurationError: An entry has other keys than it should, or a setting that a pipeline refuses.
    """
    found = []
    for name, entry in tomllib.loads(path.read_text(encoding="utf-8")).items():
        is_ours = entry.keys() - {"without"} == {"about", "set"}
        if not is_ours and (entry.keys() != {"about", "bot"} or entry["bot"] not in PEER_PACKAGES):
            raise ConfigurationError(
                f"{path.name}: [{name}] needs about and set (perhaps without), or about and bot, one of "
                f"{', '.join(PEER_PACKAGES)}."
            )
        variant = Variant(name, entry["about"], tuple(entry.get("set", ())), entry.get("bot"), entry.get("without"))
        load("local", variant.settings)
        found.append(variant)
    return found


def chosen(variants: Sequence[Variant], names: Sequence[str]) -> list[Variant]:
    """Those with the names, in the table's order; all of them without names.

    Raises:
        ConfigurationError: There is no variant of a name.
    """
    known = [variant.name for variant in variants]
    for name in names:
        if name not in known:
            meant = did_you_mean(name, known) or f"; the variants are {', '.join(known)}."
            raise ConfigurationError(f'there is no variant "{name}"{meant}')
    return [variant for variant in variants if not names or variant.name in names]
