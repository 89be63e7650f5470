"""The speakers that endpointing was fitted to: their figures say little about other callers."""

from functools import cache
from pathlib import Path

_LIST = Path(__file__).with_name("fitted_speakers.txt")


@cache
def fitted_speakers() -> frozenset[str]:
    """Their names, as in the `clips.csv` beside the recordings."""
    lines = (line.strip() for line in _LIST.read_text(encoding="utf-8").splitlines())
    return frozenset(line for line in lines if line and not line.startswith("#"))
