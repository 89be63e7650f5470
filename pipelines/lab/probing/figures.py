"""What a few requests to a tier say about it: its figures for the catalogue, and their price beforehand. Pure."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from latency.budget import P95_NEEDS
from latency.record.requests import Price, Tokens

CHARS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One request.

    Parameters:
        first: seconds to the first token of the answer; None when it failed.
        tokens_per_second: the rate after it; None when the provider did not report its tokens, or they were too few.
        usd: what it cost; None when that is unknown.
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
    """The figures of the requests that were answered; None when none was."""
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
    """The tier's table in a catalogue. They stand for both presets."""
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
    """The most that requests may cost, in US dollars; None when that is unknown. The prompt's tokens are estimated."""
    at_speed = price.at(speed) if price else None
    usd = at_speed.usd(Tokens(prompt=-(-len(prompt) // CHARS_PER_TOKEN), completion=max_tokens)) if at_speed else None
    return None if usd is None else requests * usd
