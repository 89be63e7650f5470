"""Nobody is judged by evidence that was fitted to their own recordings."""

from dataclasses import replace

import pytest

from tests.benchmarks.evidence_left_out import RefittedEvidence, judged_left_out
from tests.benchmarks.test_evidence_fit import recorded
from voice.turns.endpointing import Endpointing
from voice.turns.evidence import WITH_MODEL, WITH_TRIGRAMS, WITHOUT_WORDS, Evidence, Weights

RULE = Endpointing(stop=0.2, fallback=0.7)


@pytest.mark.parametrize(
    ("words", "weights"),
    [({"read": -0.7}, WITH_TRIGRAMS), ({"read": -0.7, "ends": 0.3}, WITH_MODEL), ({}, WITHOUT_WORDS)],
)
def test_the_weights_of_calls_give_the_probability_of_calls(words: dict[str, float], weights: Weights) -> None:
    known = {"sound": 0.8, "spoken": 2.5, **words}
    assert RefittedEvidence(**known, weights=weights).probability == pytest.approx(Evidence(**known).probability)  # type: ignore[arg-type]


def test_a_speakers_own_recordings_do_not_count() -> None:
    """What others' recordings say decides, however often the speaker's own say the opposite."""
    usual = [replace(recorded(inserted=False), speaker=f"corpus_{n}") for n in range(20)]
    pause, end = usual[0].silences[1], usual[0].silences[2]
    swapped = (replace(pause, asked=end.asked), replace(end, asked=pause.asked))
    odd = [replace(usual[0], speaker="odd_1", silences=swapped) for _ in range(40)]
    alone = judged_left_out(usual, odd[:1], RULE)
    among_its_own = judged_left_out([*usual, *odd], odd[:1], RULE)
    assert alone[0].delay == among_its_own[0].delay
    assert alone[0].delay is not None
