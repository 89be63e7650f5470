"""Figures as people read them; an unknown one is a dash."""

UNKNOWN = "-"


def ms(value: float | None) -> str:
    """Whole milliseconds."""
    return UNKNOWN if value is None else f"{value:.0f}"


def percent(value: float | None) -> str:
    """A share between 0 and 1."""
    return UNKNOWN if value is None else f"{value:.1%}"


def count(value: float | None) -> str:
    """How many."""
    return UNKNOWN if value is None else f"{value:g}"


def things(number: int | None, noun: str) -> str:
    """A number with its noun, which takes an s for any number but one."""
    return f"{UNKNOWN if number is None else number} {noun}{'' if number == 1 else 's'}"


def counted(counts: dict[str, int]) -> str:
    """What there was how often, the most frequent first."""
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    return ", ".join(f"{name} {n}" for name, n in ordered)
