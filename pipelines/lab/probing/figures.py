"""The figures of a tier, from a few requests: their price beforehand, and the file that keeps them."""

import json
import statistics
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from latency.budget import P95_NEEDS
from latency.record.requests import Price, Tokens
from voice.errors import ComponentError
from voice.llm.catalog.catalog import load_catalog, measured_file
from voice.text_file import read_text

CHARS_PER_TOKEN = 4
HEAD = "# Written by latency probe; remove a table, or the file, to go back to the published figures.\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One request.

    Parameters:
        first: seconds to the first token of the answer; None when it failed.
        tokens_per_second: the rate after it; None when the provider did not report its tokens, or they were too few.
        usd: its cost; None when that is unknown.
        served: the speed that the provider says it served.
        failed: why it failed; None when it did not.
    """

    first: float | None = None
    tokens_per_second: float | None = None
    usd: float | None = None
    served: str | None = None
    failed: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The figures of a tier, from `n` requests that were answered; times in seconds."""

    n: int
    p50: float
    p95: float
    longest: float
    tokens_per_second: float | None


def measured(samples: Sequence[Sample]) -> Measured | None:
    """The figures of the answered requests; None without any."""
    times = sorted(sample.first for sample in samples if sample.first is not None)
    if not times:
        return None
    rates = [sample.tokens_per_second for sample in samples if sample.tokens_per_second is not None]
    p95 = statistics.quantiles(times, n=20, method="inclusive")[-1] if len(times) >= P95_NEEDS else times[-1]
    return Measured(
        n=len(times),
        p50=statistics.median(times),
        p95=p95,
        longest=times[-1],
        tokens_per_second=statistics.median(rates) if rates else None,
    )


def for_catalog(found: Measured, *, on: date) -> dict[str, Any]:
    """The tier's table in a catalogue; the figures apply to both presets."""
    source = f"measured on {on.isoformat()}, n={found.n}"
    percentile = "" if found.n >= P95_NEEDS else "; p95: the longest"
    first = {
        "p50_ms": round(found.p50 * 1000, 1),
        "p95_ms": round(found.p95 * 1000, 1),
        "max_ms": round(found.longest * 1000, 1),
        "source": f"{source}{percentile}",
    }
    table: dict[str, Any] = {"field": first, "optimistic": first}
    if found.tokens_per_second is not None:
        table["rate"] = {"tokens_per_second": round(found.tokens_per_second, 1), "source": source}
    return table


def most(price: Price | None, *, speed: str | None, requests: int, prompt: str, max_tokens: int) -> float | None:
    """The highest cost of the requests, in US dollars; None if unknown. The prompt's tokens are estimated."""
    at_speed = price.at(speed) if price else None
    usd = at_speed.usd(Tokens(prompt=-(-len(prompt) // CHARS_PER_TOKEN), completion=max_tokens)) if at_speed else None
    return None if usd is None else requests * usd


def keep(figures: Mapping[str, Mapping[str, Any]]) -> Path:
    """Store figures beside the user's catalogue, in place of earlier ones of the same tiers; returns the file.

    Raises:
        ConfigurationError: the existing file is not a catalogue.
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
