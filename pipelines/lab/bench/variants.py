"""Reads the agents that a benchmark compares from variants.toml; a new variant is a few lines there."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from latency.command_line import did_you_mean
from pipelines.lab.bench.bots import BOTS
from pipelines.settings import load
from voice.errors import ConfigurationError

TABLE = Path(__file__).with_name("variants.toml")
BASELINE = "stock-pipecat"
"""The variant that the others are compared with."""
FAST_URL = "{fast_url}"
"""Placeholder in a variant's settings for the fast model's address."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One agent.

    Parameters:
        name: its name in tables and folders.
        about: a description.
        settings: `key=value` overrides of our local pipeline.
        bot: the peer's bot; None for our agent.
        without: the part of another variant that it lacks, in words; None if it lacks none.
        of: that other variant.
        fast: whether a peer's only language model is the fast one.
    """

    name: str
    about: str
    settings: tuple[str, ...] = ()
    bot: str | None = None
    without: str | None = None
    of: str | None = None
    fast: bool = False

    @property
    def missing(self) -> str | None:
        """Why it cannot take part here, and what to install; None when it can."""
        if self.bot is None:
            return None
        package = BOTS[self.bot].package
        try:
            version(package)
        except PackageNotFoundError:
            return f"{package} is not installed; pip install '.[peers]'"
        return None


def read_variants(path: Path = TABLE) -> list[Variant]:
    """All variants of a table.

    Raises:
        ConfigurationError: an entry has wrong keys, or an invalid setting.
    """
    found = []
    for name, entry in tomllib.loads(path.read_text(encoding="utf-8")).items():
        keys = entry.keys()
        is_ours = keys in ({"about", "set"}, {"about", "set", "without", "of"})
        is_peer = keys - {"llm"} == {"about", "bot"} and entry["bot"] in BOTS
        if not is_ours and not (is_peer and entry.get("llm", "fast") == "fast"):
            raise ConfigurationError(
                f"{path.name}: [{name}] needs about and set (perhaps without and of), or about and bot (perhaps "
                f'llm = "fast"), one of {", ".join(BOTS)}.'
            )
        variant = Variant(
            name=name,
            about=entry["about"],
            settings=tuple(entry.get("set", ())),
            bot=entry.get("bot"),
            without=entry.get("without"),
            of=entry.get("of"),
            fast="llm" in entry,
        )
        load("local", [setting.replace(FAST_URL, "http://127.0.0.1/v1") for setting in variant.settings])
        found.append(variant)
    names = [variant.name for variant in found]
    for variant in found:
        if variant.of and variant.of not in names:
            raise ConfigurationError(f'{path.name}: [{variant.name}]: there is no variant "{variant.of}".')
    return found


def chosen(variants: Sequence[Variant], names: Sequence[str]) -> list[Variant]:
    """The variants with these names, in the table's order; all variants if there are no names.

    Raises:
        ConfigurationError: a name is unknown.
    """
    known = [variant.name for variant in variants]
    for name in names:
        if name not in known:
            meant = did_you_mean(name, known) or f"; the variants are {', '.join(known)}."
            raise ConfigurationError(f'there is no variant "{name}"{meant}')
    return [variant for variant in variants if not names or variant.name in names]
