"""The figures of a rule for the end of a turn. Delays are in seconds, shares between 0 and 1."""

from dataclasses import dataclass

BUDGETS = (0.01, 0.02, 0.05, 0.1, 0.2)
"""Shares of pauses cut off at which rules are compared."""
BUDGET = 0.05
MOST_DELAY = 0.3
"""Seconds; eot-bench's two points are the delay at `BUDGET` and the cut-offs at this mean delay."""
ROUNDING = 1e-9

Interval = tuple[float, float | None]
"""Low and high end; the high end is None when it lies beyond every setting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A figure and its bootstrap interval over speakers, which is None with fewer than 8 of them."""

    value: float | None
    """None when no setting reaches it."""
    interval: Interval | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A rule at one setting."""

    settings: dict[str, float]
    share: float | None
    """Of pauses cut off; None without pauses."""
    mean: float
    p95: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleCurve:
    """A rule at its best settings."""

    rule: str
    points: tuple[Point | None, ...]
    """For each of `BUDGETS`, the setting with the least mean delay that cuts off at most that share; None when every
    setting cuts off more."""
    delay_at_budget: Estimate
    """The least mean delay with at most `BUDGET` of the pauses cut off, seconds."""
    share_at_delay: Estimate
    """The least share of pauses cut off with a mean delay of at most `MOST_DELAY`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InForce:
    """Our rule as it is set."""

    point: Point
    share: Estimate
    """Of pauses cut off. If none was, the interval ends at the share that would leave no pause cut off in 2.5 % of all
    cases (binomial)."""
    mean: Estimate
    p95: Estimate
    inside: int
    """The number of turns without a labelled pause that it cut off."""
    without_pause: int
    never_ended: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeakerLine:
    """Our rule as it is set, for one speaker."""

    speaker: str
    turns: int
    pauses: int
    cut: int
    inside: int
    mean: float | None
    p95: float | None
