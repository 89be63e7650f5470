"""Who endpointing was fitted to: figures for these speakers say little about other callers."""

from functools import cache
from pathlib import Path

_LIST = Path(__file__).with_name("fitted_speakers.txt")


@cache
def fitted_speakers() -> frozenset[str]:
    """Their names, as `clips.csv` beside the recordings calls them."""
    lines = (line.strip() for line in _LIST.read_text(encoding="utf-8").splitlines())
    return frozenset(line for line in lines if line and not line.startswith("#"))
