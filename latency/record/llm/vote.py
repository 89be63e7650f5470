"""How an answer was picked from several candidates, as the server reports it and a run folder keeps it."""

from dataclasses import dataclass

from latency.record.units import Count


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """The candidates at the instant of the pick."""

    candidates: Count
    """How many were asked for."""
    there: Count
    """How many were whole and passed the checks."""
    agreeing: Count
    """How many of these agree in numbers, days, yes or no, and tool calls with the one that was picked, that one
    included; 0 when another answer was spoken, or one that was not whole yet."""
    dismissed: tuple[str, ...] = ()
    """Why others were not to be used, one clause each."""
    why: str = ""
    """Why this one was picked; one clause."""
