"""What became of a threshold that was held against a report."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Judgement:
    """A threshold held against a report."""

    expr: str
    verdict: Literal["passed", "failed", "no data"]
    value: float | None
    """The figure that was judged."""
    reason: str | None = None
    """Why there is no data, in one clause; None for the other verdicts."""
