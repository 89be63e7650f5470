import random

import pytest

from voice.asr.whisper.model import LONGEST_PASS, SHARE, PassPacing


def test_the_first_pass_may_begin_at_once() -> None:
    assert PassPacing(0.05).is_due(0.0)


def test_after_a_pass_the_model_rests_for_four_times_its_length() -> None:
    pace = PassPacing(0.05)
    pace.took(10.0, 10.05)
    assert not pace.is_due(10.24)
    assert pace.is_due(10.2501)


def test_a_model_that_is_too_slow_runs_no_partial_passes() -> None:
    assert not PassPacing(LONGEST_PASS * 1.1).is_due(0.0)


def test_slower_passes_stop_partial_passes_and_faster_ones_resume_them() -> None:
    pace = PassPacing(0.1)
    for number in range(5):
        pace.took(float(number), number + 0.5)
    assert not pace.is_due(100.0)
    for number in range(100, 110):
        pace.took(float(number), number + 0.05)
    assert pace.is_due(200.0)


@pytest.mark.parametrize("seed", range(20))
def test_passes_of_any_length_take_no_more_than_their_share(seed: int) -> None:
    chance = random.Random(seed)
    pace, now, spent = PassPacing(0.05), 0.0, 0.0
    while now < 60:
        if pace.is_due(now):
            took = chance.uniform(0.01, 0.3)
            pace.took(now, now + took)
            spent += took
        now += 0.02
    assert 0 < spent <= SHARE * (60 + 1)


def test_passes_at_once_are_made_up_for_by_a_longer_rest() -> None:
    pace = PassPacing(0.05)
    pace.took(10.0, 10.05)
    assert pace.is_due(10.06, at_once=0.05)
    pace.took(10.06, 10.11)
    assert not pace.is_due(10.2, at_once=0.05)
    assert pace.is_due(10.2501, at_once=0.05)
    assert not pace.is_due(10.49)
    assert pace.is_due(10.5001)
