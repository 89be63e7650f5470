import pytest

from latency.judge.turn import Outcome
from latency.record.marks import Mark, Marks
from latency.record.turn import TurnRecord
from latency.report.turn_taking import eva_score, score_of, turn_taking


@pytest.mark.parametrize(
    ("latency", "plain", "with_tool"),
    [
        (-0.5, 0.0, 0.0), (0.0, 0.5, 0.5), (0.3, 0.8, 0.8), (0.5, 1.0, 1.0), (2.0, 1.0, 1.0), (2.75, 0.5, 1.0),
        (3.5, 0.0, 0.75), (4.0, 0.0, 0.5), (5.0, 0.0, 0.0), (60.0, 0.0, 0.0),
    ],
)  # fmt: skip
def test_a_latency_scores_as_on_evas_published_curve(latency: float, plain: float, with_tool: float) -> None:
    assert eva_score(latency, with_tool=False) == pytest.approx(plain)
    assert eva_score(latency, with_tool=True) == pytest.approx(with_tool)


def timed(latency: float, **values: object) -> Outcome:
    turn = TurnRecord(session="a", turn=0, speech=((1, 2), (2.15, 3), (3.3, 4)), wants_answer=True, **values)  # type: ignore[arg-type]
    return Outcome(turn=turn, latency=latency, answered=True, taken=(True, False))


def test_only_turns_without_an_interruption_have_a_score() -> None:
    assert score_of(timed(0.3)) == pytest.approx(0.8)
    assert score_of(timed(0.3, barge_in=True)) is None
    assert score_of(Outcome(turn=timed(0.3).turn, latency=0.3, cut_off=True)) is None
    assert score_of(Outcome(turn=timed(0.3).turn)) is None


def test_pauses_are_counted_from_200_ms_on_beside_the_delay_of_the_ends() -> None:
    found = turn_taking([timed(0.3, marks=Marks({Mark.TURN_COMMIT: 4.25})), timed(0.5)])
    assert (found.eva, found.eva_n) == (0.9, 2)
    assert (found.eot_pauses, found.eot_cut_offs, found.eot_cut_off_rate) == (2, 0, 0.0), "the one cut off is too short"
    assert found.eot_delay_ms == 250.0


def test_no_turn_has_no_score() -> None:
    found = turn_taking([])
    assert (found.eva, found.eot_cut_off_rate, found.eot_delay_ms) == (None, None, None)
