"""The labelled recordings that decide: ours, or the user's."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from latency.judge.answer import normalised
from voice.asr.whisper.decoding import SAMPLE_RATE
from voice.client.fixtures.fixture import Fixture

BEFORE, AFTER = 0.5, 0.1
"""Seconds around the speech that a final pass is given in a call: what is kept from before it, and a hint's silence."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Utterance:
    """What somebody says in a turn.

    Parameters:
        text: its words.
        samples: float32 in -1..1, 16 kHz mono, shape (samples,), cut as the recogniser is given it in a call.
    """

    text: str
    samples: NDArray[np.float32]

    @property
    def words(self) -> int:
        """How many words it has."""
        return len(normalised(self.text).split())


def utterances(fixtures: Iterable[Fixture]) -> list[Utterance]:
    """The turns whose words and speech are known."""
    found = []
    for turn in (turn for fixture in fixtures for turn in fixture.turns if turn.text and turn.speech):
        start = round(max(0.0, turn.onset - BEFORE) * SAMPLE_RATE)
        cut = turn.samples[start : round((turn.end + AFTER) * SAMPLE_RATE)]
        found.append(Utterance(text=turn.text, samples=(cut / 32768).astype(np.float32)))
    return found


def spread(found: Sequence[Utterance], most: int) -> list[Utterance]:
    """At most so many of the utterances, evenly spaced."""
    if len(found) <= most:
        return list(found)
    return [found[index * len(found) // most] for index in range(most)]
