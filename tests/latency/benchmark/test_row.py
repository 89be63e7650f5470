import pytest

from latency.benchmark.row import interruptions
from latency.judge.barge_in import BargeInResult
from latency.judge.outcome import Outcome
from latency.judge.session import SessionOutcome
from latency.record.session import Session
from latency.record.turn import TurnRecord


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
