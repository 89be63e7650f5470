"""Counts and percentiles, rounded once to the 0.1 ms that people read and thresholds judge.

Percentiles interpolate linearly between the two nearest samples (numpy's "linear"). The 99th needs 100 samples: from
fewer it would be little more than the maximum, so it is None.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

METHOD = "linear interpolation"
P99_NEEDS = 100


def percentile(values: Sequence[float], percent: float) -> float | None:
    """The value below which `percent` of 100 of the samples lie; None without samples."""
    if not values:
        return None
    ordered = sorted(values)
    position = (len(ordered) - 1) * percent / 100
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Middle and tail of a set of durations, ms."""

    n: int
    p50: float | None
    p95: float | None

    @classmethod
    def of(cls, seconds: Iterable[float]) -> "Spread":
        """Summarise durations given in seconds."""
        values = [value * 1000 for value in seconds]
        return cls(n=len(values), p50=_rounded(percentile(values, 50)), p95=_rounded(percentile(values, 95)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent(Spread):
    """Middle, tail and end of a set of durations, ms."""

    max: float | None

    @classmethod
    def of(cls, seconds: Iterable[float]) -> "Extent":
        """Summarise durations given in seconds."""
        values = list(seconds)
        spread = Spread.of(values)
        longest = _rounded(max((value * 1000 for value in values), default=None))
        return cls(n=spread.n, p50=spread.p50, p95=spread.p95, max=longest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """A set of latencies, ms; `within_400` and `within_800` count those that took no longer."""

    n: int
    p50: float | None
    p90: float | None
    p95: float | None
    p99: float | None
    max: float | None
    within_400: int
    within_800: int

    @classmethod
    def of(cls, seconds: Iterable[float]) -> "Distribution":
        """Summarise latencies given in seconds."""
        values = [value * 1000 for value in seconds]
        p50, p90, p95 = (_rounded(percentile(values, percent)) for percent in (50, 90, 95))
        return cls(
            n=len(values),
            p50=p50,
            p90=p90,
            p95=p95,
            p99=p99(values),
            max=_rounded(max(values, default=None)),
            within_400=sum(value <= 400 for value in values),
            within_800=sum(value <= 800 for value in values),
        )


def p99(values: Sequence[float]) -> float | None:
    """The 99th percentile to 0.1, or None when there are fewer than 100 samples."""
    return _rounded(percentile(values, 99)) if len(values) >= P99_NEEDS else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 1)
