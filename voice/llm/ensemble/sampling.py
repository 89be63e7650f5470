"""How the requests for candidates differ: asked alike, a model would often say the same. Pure."""

from dataclasses import dataclass

TEMPERATURES = (0.3, 0.7, 1.0, 0.5)
"""Of the candidates after the first; the first is sampled as its tier's settings say, so that a model which takes no
temperature still answers. Anthropic takes at most 1.
[A] No published figures: low enough for facts, and apart from each other."""
MOST = len(TEMPERATURES) + 1
"""Candidates of an answer."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """What a request asks of the model's sampling.

    Parameters:
        temperature: of the next token's distribution.
        seed: for servers that take one.
    """

    temperature: float
    seed: int


def sampling_of(candidate: int | None) -> Sampling | None:
    """The sampling of a candidate by its number from 0; None for the first, and for a request that is none."""
    return Sampling(TEMPERATURES[candidate - 1], seed=candidate) if candidate else None
