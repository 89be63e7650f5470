"""Figures as people read them; an unknown one is a dash."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from latency.report.stats import Distribution

UNKNOWN = "-"
NEVER = "never"
"""A latency that falls on an unanswered turn."""


def ms(value: float | None) -> str:
    """Whole milliseconds."""
    return UNKNOWN if value is None else f"{value:.0f}"


def statistic(found: "Distribution", name: str) -> str:
    """A percentile of latencies, or their maximum, by its field's name."""
    return NEVER if found.is_never(name) else ms(getattr(found, name))


def percent(value: float | None) -> str:
    """A share between 0 and 1 in percent, with one decimal where it is not whole."""
    return UNKNOWN if value is None else f"{value * 100:.1f}".removesuffix(".0") + " %"


def usd(value: float | None) -> str:
    """US dollars, with as many decimals as a small amount needs."""
    if value is None:
        return UNKNOWN
    decimals = 2 if value >= 1 or not value else 4 if value >= 0.001 else 6
    return f"${value:.{decimals}f}"


def count(value: float | None) -> str:
    """A count."""
    return UNKNOWN if value is None else f"{value:g}"


def decimal(value: float | None) -> str:
    """A figure with two decimals."""
    return UNKNOWN if value is None else f"{value:.2f}"


def plural(number: int | None, noun: str) -> str:
    """A number with its noun, in the plural unless the number is one."""
    return f"{UNKNOWN if number is None else number} {noun}{'' if number == 1 else 's'}"


def counted(counts: dict[str, int]) -> str:
    """Names with their counts, the most frequent first."""
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    return ", ".join(f"{name} {n}" for name, n in ordered)
