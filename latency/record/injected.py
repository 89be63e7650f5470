"""A fault that was put into a call on purpose, so that a reader of its figures knows."""

from dataclasses import dataclass

from latency.record.units import Count, Instant


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectedFault:
    """One fault of `voice replay --chaos`."""

    turn: Count
    """The turn of the session that was played, or had been played last."""
    at: Instant
    what: str
    """What was done, as a clause: "sim:sonnet never answers"."""
