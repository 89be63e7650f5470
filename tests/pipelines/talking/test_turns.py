"""Turns that a caller marks as bad, from the key to the record."""

from latency.record.turn import ServerTurn
from pipelines.talking.turns import BadTurns


def test_the_latest_turn_with_words_is_marked_and_a_second_press_takes_it_back() -> None:
    bad = BadTurns()
    assert bad.press(1.0) == "there is no turn to mark yet"
    bad.reported(ServerTurn(turn=0, heard="what time is it"))
    bad.reported(ServerTurn(turn=1, heard="and the day"))
    bad.reported(ServerTurn(turn=2, heard=""))
    # An earlier turn is reported again when its answer ends.
    bad.reported(ServerTurn(turn=0, heard="what time is it", final=True))
    assert bad.press(7.5) == "marked as bad: “and the day”"
    assert bad.marked == {1: 7.5}
    assert bad.press(8.0) == "no longer marked as bad: “and the day”"
    assert bad.marked == {}


def test_several_turns_can_be_marked() -> None:
    bad = BadTurns()
    for number in range(2):
        bad.reported(ServerTurn(turn=number, heard=f"turn {number}"))
        bad.press(float(number))
    assert bad.marked == {0: 0.0, 1: 1.0}
