"""Plain Python functions as tools of a language model, and the phrases while they run."""

from voice.llm.tools.tool import (
    Tool,
    Traits,
    WatchesTools,
    describe,
    irreversible,
    is_irreversible,
    slow,
)

__all__ = ["Tool", "Traits", "WatchesTools", "describe", "irreversible", "is_irreversible", "slow"]
