"""Reads the catalogue of tiers: the built-in one, and the user's, which extends and overrides it."""

import difflib
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec

from voice.errors import ConfigurationError
from voice.llm.catalog.tier import CatalogTier, Preset
from voice.text_file import read_text

SIM_PREFIX = "sim:"
STEADY = "steady"
"""A simulated model without a real counterpart: a server without variation, for tests."""
INHERITED_NEVER = ("same_as", "sim", "about", "withdrawn", "closed", "fallback")
"""Keys that a tier does not inherit from the one it is the same as."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]*")
_TWICE = re.compile(r"Cannot (?:declare|overwrite).*'tiers', '([^']+)'")


@dataclass(frozen=True)
class Catalog:
    """All tiers by name."""

    tiers: Mapping[str, CatalogTier]

    @cached_property
    def short_names(self) -> Mapping[str, str]:
        """The tiers' names by the shorter names of their simulated twins."""
        return {tier.sim: tier.name for tier in self.tiers.values() if tier.sim}

    def find(self, name: str) -> CatalogTier | None:
        """The tier of this name, or whose simulated twin has it; None for none."""
        return self.tiers.get(name) or self.tiers.get(self.short_names.get(name, ""))

    def at_standard_speed(self, tier: CatalogTier) -> CatalogTier:
        """The same tier at standard speed."""
        base = self.tiers.get(tier.same_as or "")
        return base if tier.speed and base and base.model == tier.model else tier

    def faster(self, tier: CatalogTier) -> Iterator[CatalogTier]:
        """The same model at the other speeds."""
        return (other for other in self.tiers.values() if other.speed and other.same_as == tier.name)

    def simulated(self, preset: Preset) -> dict[str, CatalogTier]:
        """The tiers with known figures, and so a simulated twin, by the twin's name and by their own."""
        return {
            name: tier
            for tier in self.tiers.values()
            if tier.first_token(preset) is not None and tier.rate is not None
            for name in (tier.sim or tier.name, tier.name)
        }


def user_file() -> Path:
    """The path of the user's own catalogue, in $XDG_CONFIG_HOME or ~/.config."""
    folder = os.environ.get("XDG_CONFIG_HOME")
    return (Path(folder) if folder else Path.home() / ".config") / "turnaround" / "catalog.toml"


def measured_file() -> Path:
    """The path of the figures measured by `latency probe` on the user's tiers; they override all others."""
    return user_file().with_name("measured.toml")


def load_catalog(own: Path | None = None) -> Catalog:
    """The built-in catalogue, overridden by the user's file and then by measured figures.

    Args:
        own: the user's file; `user_file()` unless set, where it need not exist.

    Raises:
        ConfigurationError: a file cannot be read, or has contents that a catalogue may not have.
    """
    if own is not None and not own.exists():
        raise ConfigurationError(f"There is no catalogue {own}; name a TOML file with [tiers.NAME] tables.")
    own_text, measured = _text(own or user_file()), _text(measured_file())
    return _layered(own_text, str(own or user_file()), measured, str(measured_file()))


def read_catalog(text: str, *, source: str) -> Catalog:
    """The built-in catalogue, overridden by the tiers of a text; `source` names the text in errors.

    Raises:
        ConfigurationError: see `load_catalog`.
    """
    return _layered(text, source, None, "")


def _text(path: Path) -> str | None:
    try:
        return read_text(path)
    except FileNotFoundError:
        return None
    except (OSError, UnicodeError) as error:
        raise ConfigurationError(f"{path} cannot be read as a catalogue: {error}.") from error


@cache
def _layered(own: str | None, source: str, measured: str | None, measured_source: str) -> Catalog:
    """The built-in catalogue, overridden by a user's text and then by measured figures; errors name the source."""
    tables = _tables(_built_in_text(), source="catalog.toml")
    catalog = _checked(tables, source="catalog.toml")
    if own is not None:
        for name, table in _tables(own, source=source).items():
            tables[name] = {**tables.get(name, {}), **table}
        catalog = _checked(tables, source=source)
    if measured is not None:
        figures = _tables(measured, source=measured_source)
        catalog = _checked(tables, source=measured_source, measured=figures)
    return catalog


@cache
def _built_in_text() -> str:
    return (resources.files("voice.llm.catalog") / "catalog.toml").read_text(encoding="utf-8")


def _tables(text: str, *, source: str) -> dict[str, dict[str, Any]]:
    try:
        content = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        if twice := _TWICE.search(str(error)):
            raise ConfigurationError(f"{source}: two tiers are named {twice[1]}; rename or remove one.") from None
        raise ConfigurationError(f"{source} is not TOML: {error}.") from None
    for key in content:
        if key != "tiers":
            raise ConfigurationError(f"{source}: {key} is not known here; a tier is a table [tiers.NAME].")
    tiers = content.get("tiers", {})
    if not isinstance(tiers, dict):
        raise ConfigurationError(f"{source}: tiers must be tables such as [tiers.NAME].")
    for name, table in tiers.items():
        _check_keys(name, table, source)
    return tiers


def _check_keys(name: str, table: Any, source: str) -> None:
    if not isinstance(table, dict):
        raise ConfigurationError(f"{source}: tiers.{name} must be a table; quote a name that has a dot in it.")
    if not _NAME.fullmatch(name):
        raise ConfigurationError(f'{source}: "{name}" cannot name a tier; use letters, digits and the signs . _ @ -')
    known = [field for field in CatalogTier.__struct_fields__ if field != "name"]
    for key in table:
        if key not in known:
            meant = difflib.get_close_matches(key, known, n=1)
            guess = f'; did you mean "{meant[0]}"?' if meant else "."
            raise ConfigurationError(
                f"{source}: tiers.{name}.{key} is not a key; known here: {', '.join(known)}{guess}"
            )


def _checked(
    tables: Mapping[str, dict[str, Any]], *, source: str, measured: Mapping[str, dict[str, Any]] | None = None
) -> Catalog:
    """The records of merged tables.

    Measured figures apply only to their own tier, not to variants with another speed or effort.

    Raises:
        ConfigurationError: a value is not allowed, or tiers refer to each other wrongly.
    """
    _check_chains(tables, "same_as", source)
    whole = {name: {**_whole(table, tables), **(measured or {}).get(name, {})} for name, table in tables.items()}
    catalog = Catalog({name: _record(name, table, source) for name, table in whole.items()})
    _check_chains(tables, "fallback", source)
    _check_names(catalog, source)
    return catalog


def _whole(table: Mapping[str, Any], tables: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """A tier's table with its inherited keys."""
    if "same_as" not in table:
        return dict(table)
    base = _whole(tables[table["same_as"]], tables)
    return {**{key: value for key, value in base.items() if key not in INHERITED_NEVER}, **table}


def _record(name: str, table: Mapping[str, Any], source: str) -> CatalogTier:
    try:
        return msgspec.convert({"name": name, **table}, CatalogTier)
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at `$")
        path = f"tiers.{name}{where.rstrip('`')}"
        raise ConfigurationError(f"{source}: {path} is not allowed: {what[:1].lower()}{what[1:]}.") from None


def _check_chains(tables: Mapping[str, dict[str, Any]], key: str, source: str) -> None:
    """Refuse references to unknown tiers, and circular ones."""
    for name in tables:
        chain = [name]
        while (following := tables[chain[-1]].get(key)) is not None:
            if following not in tables:
                raise ConfigurationError(
                    f'{source}: tiers.{chain[-1]}.{key} = "{following}" names no tier{_guess(str(following), tables)}'
                )
            if following in chain:
                circle = " -> ".join([*chain[chain.index(following) :], following])
                raise ConfigurationError(f"{source}: {key} goes in a circle: {circle}; remove one of them.")
            chain.append(following)


def _check_names(catalog: Catalog, source: str) -> None:
    """Refuse duplicate names, and successors that are not tiers."""
    names = set(catalog.tiers)
    for tier in catalog.tiers.values():
        if tier.sim is not None:
            if tier.sim in names - {tier.name}:
                raise ConfigurationError(
                    f'{source}: two tiers are named {tier.sim}; give tiers.{tier.name} another "sim".'
                )
            names.add(tier.sim)
        successor = tier.withdrawn and tier.withdrawn.successor
        if successor and successor not in catalog.tiers:
            raise ConfigurationError(
                f'{source}: tiers.{tier.name}.withdrawn.successor = "{successor}" names no tier'
                f"{_guess(successor, catalog.tiers)}"
            )


def _guess(name: str, known: Mapping[str, Any]) -> str:
    meant = difflib.get_close_matches(name, known, n=1)
    return f'; did you mean "{meant[0]}"?' if meant else "; `voice tiers` lists them."
