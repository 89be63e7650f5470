"""Broken input is refused in one sentence: nothing else is raised, and nothing takes long.

python -m pytest tests/fuzz -m slow -s     a million inputs
"""

import random
import time
from pathlib import Path

import pytest

from tests.fuzz.mutations import mutated
from tests.fuzz.targets import TARGETS, Target

LONGEST = 2.0
"""Seconds that one input may take, on a busy machine."""
QUICK, ALL = 1500, 150_000


def tried(target: Target, inputs: int, folder: Path, *, seed: int) -> dict[str, int]:
    """How many inputs were read and refused.

    Raises:
        AssertionError: one of them raised something else, was refused without a reason, or took too long.
    """
    counts, reasons = {"read": 0, "refused": 0}, set[str]()
    for number in range(inputs):
        rng = random.Random(f"{target.name} {seed} {number}")
        data = mutated(rng.choice(target.corpus), target.corpus, rng)
        begun = time.perf_counter()
        try:
            target.read(data, folder)
            counts["read"] += 1
        except target.refuses as refusal:
            reasons.add(str(refusal).strip())
            counts["refused"] += 1
        except Exception as error:
            raise AssertionError(f"{target.name}, seed {seed}, number {number}: {data!r}") from error
        assert time.perf_counter() - begun < LONGEST, (number, data)
    assert "" not in reasons
    return counts


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_broken_input_is_refused(target: Target, tmp_path: Path) -> None:
    counts = tried(target, max(100, QUICK // target.cost), tmp_path, seed=1)
    assert counts["refused"]
    assert counts["read"], "some are still right, or the others were not broken where it matters"


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_a_million_broken_inputs_are_refused(target: Target, tmp_path: Path) -> None:
    counts = tried(target, ALL // target.cost, tmp_path, seed=random.SystemRandom().getrandbits(32))
    print(f"\n{target.name}: {counts}")
