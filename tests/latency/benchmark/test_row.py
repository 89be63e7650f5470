import pytest

from latency.benchmark.row import CutOffs, cut_offs, interruptions
from latency.judge.barge_in import BargeInResult
from latency.judge.session import SessionOutcome
from latency.judge.turn import Outcome
from latency.record.session import Session
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


def a_session(results: list[tuple[BargeInResult | None, float | None]], never_sent: int = 0) -> SessionOutcome:
    asked = Outcome(turn=TurnRecord(session="a", turn=0, scenario="a", speech=((0.0, 1.0),), wants_answer=True))
    turns = [
        TurnRecord(session="a", turn=n, scenario="a", wants_answer=False, barge_in=True)
        for n in range(1, len(results) + 1)
    ]
    met = [
        Outcome(turn=turn, barge_in=result, barge_in_stop=stop)
        for turn, (result, stop) in zip(turns, results, strict=True)
    ]
    return SessionOutcome(session=Session(name="a", never_sent=never_sent), outcomes=(asked, *met), recorded=True)


def test_every_planned_barge_in_has_one_outcome() -> None:
    stopped, ended, silent = BargeInResult.STOPPED, BargeInResult.ENDED, BargeInResult.SILENT
    ignored = BargeInResult.IGNORED
    talks = [
        a_session([(stopped, 0.25), (stopped, 0.35), (ended, None)]),
        a_session([(silent, None), (ignored, None), (None, None)], never_sent=2),
        a_session([], never_sent=3),
    ]
    found = interruptions(talks)
    assert (found.stopped, found.ended, found.missed, found.unplayed) == (2, 1, 1, 3)
    assert (found.ignored, found.obeyed) == (1, pytest.approx(2 / 3))
    assert found.planned == 8, "the last session was no conversation with barge-ins"
    assert (found.stop_ms.n, found.stop_ms.p50) == (2, 300.0)
