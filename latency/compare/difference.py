"""Differences between two runs (B minus A) over the same turns, with intervals and an estimate of the turns needed.

* Whole groups of turns are drawn with replacement, because the turns of one call, or of one speaker, are not
  independent (Field and Welsh, "Bootstrapping clustered data", J. R. Statist. Soc. B 69, 2007). `groups` names the
  choices.
* An interval is the middle part of the drawn values, widened for few groups so that it holds the truth in 95 of 100
  cases (Hesterberg, "What teachers should know about the bootstrap", The American Statistician 69, 2015: the expanded
  percentile interval). Of 3 to 7 calls, whose drawn values are too few for that, it is Student's interval with the
  drawn values' standard deviation (the same: the t interval with a bootstrap standard error).
* The change of a turn is the mean of the turns' differences without the fifth at either end (a trimmed mean, for pairs
  as in Wilcox, "Introduction to Robust Estimation and Hypothesis Testing", 2012). It is steadier than a difference of
  medians, so that the verdict rests on it.
* The turns needed are those with which a difference is found in 80 of 100 cases, by the normal approximation.

An unanswered turn is later than any answered one: its difference is infinite, and so is a figure that rests on it.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from latency.budget import INTERVAL_NEEDS, P95_NEEDS
from latency.compare.pairing import Pair
from latency.report.stats import INTERVAL, Interval, Times, drawn_percentile, middle, percentile, reached, times_drawn

Floats = npt.NDArray[np.float64]
Grouping = Literal["speakers", "calls", "recordings", "turns"]
FEWEST_CALLS = 3
TRIMMED = 0.2
"""The share of differences left out at either end."""
FOUND = 0.8
"""The chance of finding a difference with the turns needed."""
MATTERS = 0.05
"""The least difference that turns are estimated for, as a share of A's median."""
_NEVER = 1e12
_KEYS: dict[Grouping, Callable[[Pair], object]] = {
    "speakers": lambda pair: pair.a.turn.speaker,
    "calls": lambda pair: pair.place.call,
    "recordings": lambda pair: (pair.place.conversation, pair.place.turn),
    "turns": lambda pair: pair.place,
}


class Groups(NamedTuple):
    """The groups of turns that are drawn."""

    kind: Grouping
    members: Sequence[int]
    """The group of each turn."""

    @property
    def number(self) -> int:
        """The number of groups."""
        return max(self.members) + 1


def groups(pairs: Sequence[Pair]) -> Groups | None:
    """The largest groups of which there are enough; None with fewer than 8 turns.

    They are all turns of a speaker, of a call, of a recording, or single turns. Eight are enough, or three calls: one
    or two calls cannot tell a drift of the machine from a change.
    """
    for kind, key in _KEYS.items():
        keys = [key(pair) for pair in pairs]
        numbers = {one: number for number, one in enumerate(dict.fromkeys(keys))}
        if None in numbers or len(pairs) < INTERVAL_NEEDS:
            continue
        if len(numbers) >= (FEWEST_CALLS if kind == "calls" else INTERVAL_NEEDS):
            return Groups(kind, [numbers[one] for one in keys])
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A difference, B minus A, and its interval; infinite where it rests on unanswered turns."""

    value: float
    interval: Interval | None
    """None with fewer than 8 turns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Durations:
    """Durations of the same turns in both runs, ms. A percentile that falls on an unanswered turn is infinite."""

    n: int
    drawn: Grouping | None
    """What was drawn for the intervals; None with fewer than 8 turns."""
    turn: Change
    """The change of a turn."""
    p50: tuple[float, float]
    """Of A and of B."""
    p50_change: Change
    p95: tuple[float, float] | None
    """None with fewer than 20 turns."""
    p95_change: Change | None
    needed: int | None
    """Turns with which such a difference, or at least one of 5 %, would be found; None with fewer than 8 turns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A share of the same turns or words in both runs."""

    n: int
    """Turns."""
    a: float
    b: float
    change: Change


def durations(pairs: Sequence[Pair], seconds: Iterable[tuple[float, float]]) -> Durations | None:
    """The difference of durations, which belong to the pairs in order; None without any.

    Args:
        seconds: Of A and B; infinite for an unanswered turn.
    """
    values = np.nan_to_num(np.array(list(seconds), np.float64).reshape(-1, 2) * 1000, posinf=_NEVER)
    if not len(values):
        return None
    found = groups(pairs)
    times, count = _drawn(found, len(values)), 0 if found is None else found.number
    each = values[:, 1] - values[:, 0]
    means = _trimmed_means(each, times)
    turn = _change(float(_trimmed_means(each, np.ones((1, len(each)), np.int32))[0]), means, count)
    counts = [reached(side, times) for side in values.T]

    def at(percent: float) -> tuple[tuple[float, float], Change]:
        a, b = (percentile(side.tolist(), percent) or 0.0 for side in values.T)
        ours, theirs = (drawn_percentile(side, drawn, percent) for side, drawn in zip(values.T, counts, strict=True))
        return (_shown(a), _shown(b)), _change(b - a, theirs - ours, count)

    p50, p50_change = at(50)
    p95, p95_change = at(95) if len(values) >= P95_NEEDS else (None, None)
    return Durations(
        n=len(values),
        drawn=None if found is None else found.kind,
        turn=turn,
        p50=p50,
        p50_change=p50_change,
        p95=p95,
        p95_change=p95_change,
        needed=_needed(len(values), count, turn.value, float(np.std(means)), p50[0]) if count else None,
    )


def share(pairs: Sequence[Pair], parts: Iterable[tuple[float, float, float]]) -> Share | None:
    """The difference of a share, a sum divided by another one; None without any.

    Args:
        parts: For each pair its part of A's sum and of B's, and of the whole that both are divided by.
    """
    values = np.array(list(parts), np.float64).reshape(-1, 3)
    if not len(values) or not values[:, 2].sum():
        return None
    a, b = (values[:, :2].sum(axis=0) / values[:, 2].sum()).tolist()
    found = groups(pairs)
    sums = _drawn(found, len(values)) @ values
    drawn = (sums[:, 1] - sums[:, 0]) / np.maximum(sums[:, 2], 1e-9)
    change = _change(b - a, drawn, 0 if found is None else found.number, digits=4)
    return Share(n=len(values), a=round(a, 4), b=round(b, 4), change=change)


def _drawn(found: Groups | None, turns: int) -> Times:
    """How often each turn is drawn, a row for each resample; no row without groups."""
    return np.empty((0, turns), np.int32) if found is None else times_drawn(found.number)[:, found.members]


def _change(value: float, drawn: Floats, count: int, *, digits: int = 1) -> Change:
    """A difference and its interval, from its values in the resamples of `count` groups."""
    if not count:
        return Change(value=_shown(value, digits), interval=None)
    if count >= INTERVAL_NEEDS:
        within = 2 * NormalDist().cdf(_student(count - 1) * math.sqrt(count / (count - 1))) - 1
        low, high = middle(drawn, digits, share=100 * within)
    else:
        reach = _student(count - 1) * math.sqrt(count / (count - 1)) * float(np.std(drawn))
        low, high = value - reach, value + reach
    return Change(value=_shown(value, digits), interval=(_shown(low, digits), _shown(high, digits)))


def _shown(value: float, digits: int = 1) -> float:
    """A value that unanswered turns dominate is infinite."""
    return math.copysign(math.inf, value) if abs(value) > _NEVER / 1e6 else round(value, digits)


def _trimmed_means(values: Floats, times: Times) -> Floats:
    """The trimmed mean in each resample; `times` as for `latency.report.stats.reached`."""
    counts = reached(values, times)
    total = counts[:, -1:]
    kept = np.clip(counts, TRIMMED * total, (1 - TRIMMED) * total)
    weights = np.diff(kept, axis=1, prepend=TRIMMED * total)
    means: Floats = weights @ np.sort(values) / ((1 - 2 * TRIMMED) * total[:, 0])
    return means


@cache
def _student(freedom: int) -> float:
    """The half of an interval of `INTERVAL` percent in Student's distribution, from 2 degrees of freedom on."""
    t = np.linspace(0, 60, 60_001)
    reached = np.cumsum((1 + t**2 / freedom) ** (-(freedom + 1) / 2))
    return float(t[np.searchsorted(reached, INTERVAL / 100 * reached[-1])])


def _needed(n: int, count: int, change: float, error: float, median: float) -> int | None:
    """The turns needed for a change, or for the least that matters, if `n` turns in `count` groups have this error."""
    least = max(abs(change), MATTERS * median)
    if not math.isfinite(least) or not least or error > _NEVER / 1e6:
        # Unanswered turns dominate the differences or their spread.
        return None
    needed = float(count)
    for _ in range(5):
        # More groups also have a narrower Student's distribution.
        deviations = _student(max(FEWEST_CALLS, math.ceil(needed)) - 1) + NormalDist().inv_cdf(FOUND)
        needed = (deviations * error * math.sqrt(count / (count - 1)) / least) ** 2 * count
    return math.ceil(n * needed / count)
