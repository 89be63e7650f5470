"""What `latency whatif` found: typed, as `--json` prints it."""

from dataclasses import dataclass
from typing import Literal

from pipelines.lab.whatif.row import Row
from pipelines.lab.whatif.window import WINDOWS, Window

SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The figures of every tier and of every policy over them, and the advice that follows."""

    schema: int = SCHEMA
    mode: Literal["fast", "audio"]
    """Whether the turns were held on a virtual clock or heard."""
    simulated: tuple[str, ...]
    """The names of the simulated models; every figure rests on them."""
    preset: str
    seed: int
    stalls: bool
    correlated: bool
    turns_source: str
    """Where the callers' turns come from."""
    budget_ms: float
    chain: int
    """n of p^n."""
    window_seconds: tuple[float, ...] = WINDOWS
    windows: tuple[Window, ...]
    rows: tuple[Row, ...]
    advice: str
    notes: tuple[str, ...] = ()
