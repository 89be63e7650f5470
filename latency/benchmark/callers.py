"""Who called in a benchmark: how many speakers, and whether endpointing was fitted to any of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Callers:
    """The recordings that each agent was called with.

    Parameters:
        turns: turns that speak, in one round.
        speakers: who speaks in them, as far as known.
        synthetic: how many of the speakers are synthesisers.
        fitted: those of them that endpointing was fitted to.
        fitted_turns: the turns that these speak, each by its scenario and number.
        unnamed: turns by speakers that are not known.
        left_out: turns that were not spoken, because endpointing was fitted to their speakers.
        estimated: turns whose speech was measured, because they have no labels.
        at_once: how many callers speak at the same time, each all the turns.
        wordless: turns whose words are unknown, so that a scripted recogniser hears a placeholder.
    """

    turns: int
    speakers: tuple[str, ...]
    fitted: tuple[str, ...]
    synthetic: int = 0
    unnamed: int = 0
    left_out: int = 0
    estimated: int = 0
    wordless: int = 0
    at_once: int = 1
    fitted_turns: tuple[tuple[str, int], ...] = ()

    @classmethod
    def read(cls, entry: Mapping[str, Any]) -> "Callers":
        """From the benchmark's index."""
        names = {key: tuple(entry[key]) for key in ("speakers", "fitted")}
        turns = tuple((scenario, number) for scenario, number in entry.get("fitted_turns", ()))
        return cls(**{**entry, **names, "fitted_turns": turns})
