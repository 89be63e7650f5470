"""Keeps measured figures in a file of their own, beside the user's catalogue, which stays as it is."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from voice.errors import ComponentError
from voice.llm.catalog.catalog import load_catalog, measured_file
from voice.text_file import read_text

HEAD = "# Written by latency probe; remove a table, or the file, to go back to the published figures.\n"


def keep(figures: Mapping[str, Mapping[str, Any]]) -> Path:
    """Put figures in place of those that were kept of the same tiers; returns the file.

    Raises:
        ConfigurationError: what was kept before is no catalogue.
        ComponentError: the file cannot be written.
    """
    load_catalog()
    path = measured_file()
    try:
        before = tomllib.loads(read_text(path)) if path.exists() else {}
        tables = {**before.get("tiers", {}), **figures}
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(".new")
        fresh.write_text(HEAD + "".join(_table(name, table) for name, table in tables.items()), encoding="utf-8")
        fresh.replace(path)
    except OSError as error:
        raise ComponentError(f"The measured figures could not be kept in {path}: {error}.") from error
    return path


def _table(name: str, table: Mapping[str, Any]) -> str:
    return "\n".join(
        [f"\n[tiers.{json.dumps(name)}]", *(f"{key} = {_inline(part)}" for key, part in table.items()), ""]
    )


def _inline(part: Mapping[str, Any]) -> str:
    # A quoted string and a number are the same in JSON and in TOML.
    return f"{{ {', '.join(f'{key} = {json.dumps(value)}' for key, value in part.items())} }}"
