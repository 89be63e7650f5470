"""The result of `latency whatif`, typed, as `--json` prints it."""

import math
from dataclasses import dataclass
from statistics import median
from typing import Literal

from pipelines.lab.whatif.contestants import Contestant
from pipelines.lab.whatif.draws import LatencyDraws, Randomness
from pipelines.lab.whatif.row import Row
from pipelines.lab.whatif.virtual_calls import APART

SCHEMA = 1
WINDOWS = (0.4, 0.5)
"""Seconds."""
DRAWS = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The tokens that one tier delivers within each of `WINDOWS`, the time that a voice agent has.

    A rate alone (tokens per second) ignores the time to first token. `zero` is computed that way; `own` includes the
    tier's own time to first token.
    """

    tier: str
    stands_for: str
    tokens_per_s: float
    first_token_p50_ms: float
    first_token_p95_ms: float
    zero: tuple[int, ...]
    """Whole tokens if the first one took no time."""
    own: tuple[float, ...]
    """The median of whole tokens after the tier's own time to first token."""
    any: tuple[float, ...]
    """The share of requests with any token by then."""
    usd_input: float | None
    """US dollars for a million tokens."""
    usd_output: float | None
    price_source: str | None
    quality: float | None
    quality_measure: str | None
    source: str
    """Of the time to first token."""
    rate_source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The figures of every tier and of every policy over them, and the advice that follows."""

    schema: int = SCHEMA
    mode: Literal["fast", "audio"]
    """Whether the turns were held on a virtual clock or heard."""
    simulated: tuple[str, ...]
    """The names of the simulated models; every figure rests on them."""
    preset: str
    seed: int
    stalls: bool
    correlated: bool
    turns_source: str
    """The source of the callers' turns."""
    budget_ms: float
    chain: int
    """n of p^n."""
    window_seconds: tuple[float, ...] = WINDOWS
    windows: tuple[Window, ...]
    rows: tuple[Row, ...]
    advice: str
    notes: tuple[str, ...] = ()


def window(tier: Contestant, chance: Randomness) -> Window:
    """The tokens that a tier delivers in the windows, over `DRAWS` requests."""
    profile = tier.profile
    draws, first = LatencyDraws({"large": tier}, chance), []
    for number in range(DRAWS):
        draws.turn(number)
        first.append(draws.model("large").first_token((number + 1) * APART).after)
    rate = profile.tokens_per_s
    return Window(
        tier=tier.label,
        stands_for=profile.stands_for,
        tokens_per_s=rate,
        first_token_p50_ms=round(profile.p50 * 1000, 1),
        first_token_p95_ms=round(profile.p95 * 1000, 1),
        zero=tuple(math.floor(rate * seconds + 1e-9) for seconds in WINDOWS),
        own=tuple(float(median(_fitting(rate, seconds - after) for after in first)) for seconds in WINDOWS),
        any=tuple(round(sum(after <= seconds for after in first) / DRAWS, 4) for seconds in WINDOWS),
        usd_input=tier.price.input if tier.price else None,
        usd_output=tier.price.output if tier.price else None,
        price_source=tier.price_source,
        quality=tier.quality.share if tier.quality else None,
        quality_measure=tier.quality.measure if tier.quality else None,
        source=profile.source,
        rate_source=profile.rate_source,
    )


def _fitting(rate: float, seconds: float) -> int:
    return max(0, math.floor(rate * seconds + 1e-9))
