import pytest

from latency.judge.cut_offs import CutOffs, cut_offs
from latency.judge.outcome import Outcome
from latency.record.turn import TurnRecord


def outcome(*, ends_heard: bool = False, pauses_cut: int = 0) -> Outcome:
    turn = TurnRecord(session="s", turn=0, speech=((1.0, 2.0), (2.8, 4.0)), wants_answer=True)
    return Outcome(turn=turn, cut_off=ends_heard, pauses=1, pauses_cut=pauses_cut)


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ([4.2], CutOffs(pauses=1, in_pauses=0, elsewhere=0, heard=0)),
        ([2.4, 4.2], CutOffs(pauses=1, in_pauses=1, elsewhere=0, heard=0)),
        # The user goes on at 2.8, which no detector knows at once.
        ([2.9, 4.2], CutOffs(pauses=1, in_pauses=1, elsewhere=0, heard=0)),
        ([3.5, 4.2], CutOffs(pauses=1, in_pauses=0, elsewhere=1, heard=0)),
        ([1.5, 2.4, 4.2], CutOffs(pauses=1, in_pauses=1, elsewhere=1, heard=0)),
    ],
)
def test_a_turn_committed_too_early_is_a_cut_off(ends: list[float], expected: CutOffs) -> None:
    assert cut_offs([outcome()], {"s": ends}) == expected


def test_an_agent_that_reports_no_turn_ends_is_judged_by_its_audio() -> None:
    assert cut_offs([outcome(ends_heard=True, pauses_cut=1)], {}) == CutOffs(
        pauses=1, in_pauses=1, elsewhere=0, heard=1
    )
    assert cut_offs([outcome(ends_heard=True)], {}) == CutOffs(pauses=1, in_pauses=0, elsewhere=1, heard=1)
