"""Counts and percentiles, rounded once to 0.1 ms, so that people and checks see the same values.

Percentiles interpolate linearly between the two nearest samples (numpy's "linear"). The 99th needs 100 samples; with
fewer it would be little more than the maximum, so it is None. A bootstrap interval shows how reliable a percentile is:
the 2.5th to the 97.5th percentile of its values in 1000 resamples, drawn with replacement from the measured samples,
always with the same random numbers. It needs 8 samples.

A turn that got no answer is a sample that is later than any limit (infinite). A percentile that falls on one is None,
and so is an interval that reaches one.
"""

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from latency.budget import INTERVAL_NEEDS, NATURAL, P99_NEEDS, TURN_LIMIT

METHOD = "linear interpolation"
INTERVAL = 95
"""Percent of the resampled percentiles that an interval contains."""
RESAMPLES = 1000
INTERVAL_METHOD = f"{INTERVAL} % bootstrap intervals, {RESAMPLES} resamples"
_SEED = 800
_NEVER = 1e12

Interval = tuple[float, float]
"""Low and high end; ms for latencies."""

Times = npt.NDArray[np.int32]
"""Counts of drawn samples; a row for each resample."""

Latencies = Mapping[tuple[str, str, int], float]
"""Seconds by scenario, session (a repetition of the scenario) and number of the turn."""


def percentile(values: Sequence[float], percent: float) -> float | None:
    """The value below which `percent` percent of the samples lie; None without samples."""
    if not values:
        return None
    ordered = sorted(values)
    below, share = _position(len(ordered), percent)
    above = min(below + 1, len(ordered) - 1)
    if not share or ordered[below] == ordered[above]:
        return ordered[below]
    return ordered[below] + (ordered[above] - ordered[below]) * share


def interval(values: Sequence[float], percent: float) -> Interval | None:
    """The bootstrap interval of a percentile, rounded to 0.1; None with fewer than 8 samples."""
    if len(values) < INTERVAL_NEEDS:
        return None
    # Later than any measured value; infinity itself cannot be interpolated.
    ordered = np.sort(np.nan_to_num(np.asarray(values, np.float64), posinf=_NEVER))
    first, second, share = _resampled(len(ordered), percent)
    return _middle(ordered[first] + (ordered[second] - ordered[first]) * share, 1, _highest(values))


def ratio_of_medians(pairs: Sequence[tuple[float, float]]) -> float | None:
    """The median of the first values divided by that of the second; None without samples."""
    ours, theirs = (percentile([pair[side] for pair in pairs], 50) for side in (0, 1))
    return ours / theirs if ours is not None and theirs else None


def ratio_interval(groups: Sequence[Sequence[tuple[float, float]]]) -> Interval | None:
    """The bootstrap interval of `ratio_of_medians`, rounded to 0.001; None with fewer than 8 groups.

    Args:
        groups: Pairs that belong together, such as repetitions of one turn; whole groups are drawn.
    """
    if len(groups) < INTERVAL_NEEDS:
        return None
    medians = _of_drawn_groups(groups, 50)
    return _middle(medians[:, 0] / medians[:, 1], 3)


def excess(pairs: Sequence[tuple[float, float]], percent: float) -> float | None:
    """The difference between a percentile of the first values and that of the second; None without samples."""
    first, second = (percentile([pair[side] for pair in pairs], percent) for side in (0, 1))
    return None if first is None or second is None else first - second


def excess_interval(groups: Sequence[Sequence[tuple[float, float]]], percent: float) -> Interval | None:
    """The bootstrap interval of `excess`, rounded to 0.1; None with fewer than 8 groups (see `ratio_interval`)."""
    if len(groups) < INTERVAL_NEEDS:
        return None
    percentiles = _of_drawn_groups(groups, percent)
    return _middle(percentiles[:, 0] - percentiles[:, 1], 1)


def group_interval(groups: Sequence[Sequence[float]], percent: float) -> Interval | None:
    """The bootstrap interval of a percentile of all values, drawing whole groups (see `ratio_interval`), to 0.1.

    None with fewer than 8 groups, or if it reaches an infinite value.
    """
    if len(groups) < INTERVAL_NEEDS:
        return None
    drawn = _of_drawn_groups(
        [[(value, 0.0) for value in np.nan_to_num(group, posinf=_NEVER)] for group in groups], percent
    )
    return _middle(drawn[:, 0], 1, _highest(value for group in groups for value in group))


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Median and tail of a set of durations, ms."""

    n: int
    p50: float | None
    p95: float | None

    @classmethod
    def of(cls, seconds: Iterable[float]) -> "Spread":
        """Summarise durations given in seconds."""
        values = [value * 1000 for value in seconds]
        return cls(n=len(values), p50=_rounded(percentile(values, 50)), p95=_rounded(percentile(values, 95)))


@dataclass(frozen=True, slots=True, kw_only=True)
class SpreadWithMax(Spread):
    """Median, tail and maximum of a set of durations, ms."""

    max: float | None

    @classmethod
    def of(cls, seconds: Iterable[float]) -> "SpreadWithMax":
        """Summarise durations given in seconds."""
        values = list(seconds)
        longest = _rounded(max((value * 1000 for value in values), default=None))
        return cls(**asdict(Spread.of(values)), max=longest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """A set of latencies, ms; `within_400` and `within_800` count those of at most 400 and 800 ms.

    A percentile, or the maximum, that falls on an unanswered turn is None.
    """

    n: int
    """Turns with a latency."""
    p50: float | None
    p90: float | None
    p95: float | None
    p99: float | None
    max: float | None
    within_400: int
    within_800: int
    p50_ci: Interval | None
    """Bootstrap interval of `p50`; None with fewer than 8 samples, like that of `p95`."""
    p95_ci: Interval | None
    unanswered: int
    """Turns without an answer, which count as later than any limit."""

    @property
    def total(self) -> int:
        """The turns with a latency and the unanswered ones."""
        return self.n + self.unanswered

    def is_never(self, statistic: str) -> bool:
        """Whether a percentile or the maximum falls on an unanswered turn, by its field's name."""
        enough = statistic != "p99" or self.total >= P99_NEEDS
        return bool(self.unanswered) and enough and getattr(self, statistic) is None

    @classmethod
    def of(cls, seconds: Iterable[float], *, unanswered: int = 0) -> "Distribution":
        """Summarise latencies given in seconds, and a number of turns without one."""
        answered = [value * 1000 for value in seconds]
        values = [*answered, *[math.inf] * unanswered]
        p50, p90, p95 = (_rounded(percentile(values, percent)) for percent in (50, 90, 95))
        return cls(
            n=len(answered),
            unanswered=unanswered,
            p50=p50,
            p90=p90,
            p95=p95,
            p99=p99(values),
            max=_rounded(max(values, default=None)),
            within_400=sum(value <= NATURAL * 1000 for value in values),
            within_800=sum(value <= TURN_LIMIT * 1000 for value in values),
            p50_ci=interval(values, 50),
            p95_ci=interval(values, 95),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """An agent's median latency divided by another's, and its interval (None for few turns)."""

    n: int
    value: float
    interval: Interval | None


def compare(ours: Latencies, theirs: Latencies) -> Ratio | None:
    """The ratio over the turns that both answered; None without any."""
    groups = paired(ours, theirs)
    value = ratio_of_medians([pair for group in groups for pair in group])
    if value is None:
        return None
    return Ratio(n=sum(map(len, groups)), value=round(value, 3), interval=ratio_interval(groups))


def paired(ours: Latencies, theirs: Latencies) -> list[list[tuple[float, float]]]:
    """The latencies of the turns that both answered, grouped by recording."""
    recordings: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for scenario, session, turn in sorted(ours.keys() & theirs.keys()):
        key = (scenario, session, turn)
        recordings.setdefault((scenario, turn), []).append((ours[key], theirs[key]))
    return list(recordings.values())


def p99(values: Sequence[float]) -> float | None:
    """The 99th percentile to 0.1, or None when there are fewer than 100 samples."""
    return _rounded(percentile(values, 99)) if len(values) >= P99_NEEDS else None


def middle(resampled: npt.NDArray[np.float64], digits: int, *, share: float = INTERVAL) -> Interval:
    """The range of the middle `share` percent of the resampled values."""
    low, high = np.percentile(resampled, [50 - share / 2, 50 + share / 2])
    return round(float(low), digits), round(float(high), digits)


def times_drawn(count: int) -> Times:
    """How often each of `count` groups is drawn in each resample: shape (resamples, count)."""
    drawn = np.random.default_rng(_SEED).integers(0, count, (RESAMPLES, count))
    places = drawn + count * np.arange(RESAMPLES)[:, np.newaxis]
    return np.bincount(places.ravel(), minlength=RESAMPLES * count).reshape(RESAMPLES, count).astype(np.int32)


def reached(values: npt.NDArray[np.float64], times: Times) -> Times:
    """How many of the drawn samples are at most the first, second and so on of the ordered values, in each resample.

    Args:
        values: Shape (samples,).
        times: How often each sample is drawn: shape (resamples, samples).
    """
    return np.cumsum(times[:, np.argsort(values)], axis=1, dtype=np.int32)


def drawn_percentile(values: npt.NDArray[np.float64], counts: Times, percent: float) -> npt.NDArray[np.float64]:
    """A percentile in each resample; `counts` as `reached` returns them."""
    ordered = np.sort(values)
    position = (counts[:, -1] - 1) * percent / 100
    below, above = (ends.astype(np.int32) for ends in (np.floor(position), np.ceil(position)))
    low, high = (ordered[np.argmax(counts > one[:, np.newaxis], axis=1)] for one in (below, above))
    found: npt.NDArray[np.float64] = low + (high - low) * (position - below)
    return found


def _middle(resampled: npt.NDArray[np.float64], digits: int, highest: float = math.inf) -> Interval | None:
    """The range of the middle `INTERVAL` percent of the resampled values; None if it reaches beyond `highest`."""
    found = middle(resampled, digits)
    return found if np.percentile(resampled, 50 + INTERVAL / 2) <= highest else None


def _highest(values: Iterable[float]) -> float:
    """The highest of the values that are finite; at least 0."""
    return max((value for value in values if math.isfinite(value)), default=0.0)


def _of_drawn_groups(groups: Sequence[Sequence[tuple[float, float]]], percent: float) -> npt.NDArray[np.float64]:
    """A percentile of both sides of the pairs in each resample of whole groups: shape (resamples, 2)."""
    values = np.array([pair for group in groups for pair in group], np.float64)
    members = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    times = times_drawn(len(groups))[:, members]
    return np.stack([drawn_percentile(side, reached(side, times), percent) for side in values.T], axis=1)


def _position(count: int, percent: float) -> tuple[int, float]:
    """The position of a percentile among `count` ordered samples: the index of the sample below, and the fraction."""
    position = (count - 1) * percent / 100
    below = math.floor(position)
    return below, position - below


@functools.lru_cache(maxsize=64)
def _resampled(count: int, percent: float) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], float]:
    """The position of a percentile among the `count` ordered samples in each resample: two indices and the fraction.

    Resamples are not drawn sample by sample. Drawing with replacement is the same as drawing uniform numbers, each of
    which selects a sample. The k-th smallest of `count` uniform numbers has the distribution Beta(k, count - k + 1),
    and the next one divides the remaining range like the smallest of `count - k` others.
    """
    below, share = _position(count, percent)
    random = np.random.default_rng(_SEED)
    lower = random.beta(below + 1, count - below, RESAMPLES)
    upper = lower
    if share:
        upper = lower + (1 - lower) * random.beta(1, count - below - 1, RESAMPLES)
    last = count - 1
    return (
        np.minimum((lower * count).astype(np.intp), last),
        np.minimum((upper * count).astype(np.intp), last),
        share,
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None or math.isinf(value) else round(value, 1)
