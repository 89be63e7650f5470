import pytest

from voice.llm.answer.answer_state import PlayoutEstimate
from voice.llm.answer.clauses import SECONDS_PER_CHARACTER


def test_nothing_ends_before_anything_was_handed_over() -> None:
    assert PlayoutEstimate().ends_at is None


def test_clauses_are_played_one_after_the_other() -> None:
    playout = PlayoutEstimate(lag=0.1)
    playout.add("x" * 10, 5.0)
    first = 5.1 + 10 * SECONDS_PER_CHARACTER
    assert playout.ends_at == pytest.approx(first)
    playout.add("y" * 10 + " ", 5.2)
    assert playout.ends_at == pytest.approx(first + 10 * SECONDS_PER_CHARACTER)


def test_after_a_gap_playout_starts_anew() -> None:
    playout = PlayoutEstimate(lag=0.1)
    playout.add("x", 5.0)
    playout.add("x" * 10, 50.0)
    assert playout.ends_at == pytest.approx(50.1 + 10 * SECONDS_PER_CHARACTER)


def test_what_is_held_back_is_played_from_its_release_on() -> None:
    playout = PlayoutEstimate(lag=0.1)
    playout.add("x" * 10, None)
    assert playout.ends_at is None
    playout.release(9.0)
    assert playout.ends_at == pytest.approx(9.1 + 10 * SECONDS_PER_CHARACTER)
    playout.release(20.0)
    assert playout.ends_at == pytest.approx(9.1 + 10 * SECONDS_PER_CHARACTER)
