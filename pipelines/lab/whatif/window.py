"""How many tokens fit into the time that a voice agent has: the debate's "35 against 400+", with and without a wait.

Figures of tokens per second alone assume that the first token takes no time. `zero` is that figure; `own` has the
tier's own time to first token in front of it.
"""

import math
from dataclasses import dataclass
from statistics import median

from pipelines.lab.whatif.contestant import Contestant
from pipelines.lab.whatif.virtual.calls import APART, LatencyDraws, Randomness

WINDOWS = (0.4, 0.5)
"""Seconds."""
DRAWS = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What one tier delivers within each of `WINDOWS`."""

    tier: str
    stands_for: str
    tokens_per_s: float
    first_token_p50_ms: float
    first_token_p95_ms: float
    zero: tuple[int, ...]
    """Whole tokens, if the first one took no time."""
    own: tuple[float, ...]
    """The median of whole tokens, after the tier's own time to first token."""
    any: tuple[float, ...]
    """The share of requests of which there is any token by then."""
    usd_input: float | None
    """US dollars for a million tokens."""
    usd_output: float | None
    price_source: str | None
    quality: float | None
    quality_measure: str | None
    source: str
    """Of the time to first token."""
    rate_source: str


def window(tier: Contestant, chance: Randomness) -> Window:
    """The tokens that a tier delivers in the windows, over `DRAWS` requests."""
    profile = tier.profile
    luck, first = LatencyDraws({"large": tier}, chance), []
    for number in range(DRAWS):
        luck.turn(number)
        first.append(luck.model("large").first_token((number + 1) * APART).after)
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
