"""What became of a threshold that was held against a report."""

import math
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Judgement:
    """A threshold held against a report."""

    expr: str
    verdict: Literal["passed", "failed", "no data"]
    value: float | None
    """The figure that was judged; infinite for a latency that falls on an unanswered turn."""
    reason: str | None = None
    """Why there is no data, in one clause; None for the other verdicts."""

    @property
    def shown(self) -> str | None:
        """The figure in words; None when there is none."""
        if self.value is None:
            return None
        return "that of an unanswered turn" if math.isinf(self.value) else f"{self.value:g}"
