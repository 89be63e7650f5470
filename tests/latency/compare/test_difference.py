import math

import numpy as np
import pytest

from latency.compare.difference import Durations, durations, groups, share
from latency.compare.pairing import Pair, Place
from tests.latency.compare.paired_turns import BUSY, QUIET, Floats, outcome, pairs, seconds


def of(found: list[Pair]) -> Durations:
    judged = durations(found, seconds(found))
    assert judged is not None
    return judged


def is_alarm(found: Durations) -> bool:
    assert found.turn.interval is not None
    low, high = found.turn.interval
    return low > 0 or high < 0


@pytest.mark.parametrize("chance", [QUIET, BUSY], ids=["quiet", "busy"])
@pytest.mark.parametrize(("calls", "turns"), [(10, 3), (30, 1), (3, 10)])
def test_at_most_one_of_twenty_comparisons_of_a_run_with_itself_alarms(calls: int, turns: int, chance: Floats) -> None:
    assert sum(is_alarm(of(pairs(calls, turns, seed, chance=chance))) for seed in range(20)) <= 1


@pytest.mark.parametrize(("calls", "turns"), [(10, 3), (30, 1)])
def test_100_ms_are_found_in_30_turns(calls: int, turns: int) -> None:
    found = [of(pairs(calls, turns, seed, slower=100)) for seed in range(20)]
    assert sum(one.turn.interval is not None and one.turn.interval[0] > 0 for one in found) >= 18
    assert np.mean([one.turn.value for one in found]) == pytest.approx(100, abs=10)


def test_intervals_hold_the_truth_in_about_95_of_100_samples() -> None:
    found = [of(pairs(10, 4, seed)).p50_change.interval for seed in range(100)]
    assert sum(one is not None and one[0] <= 0 <= one[1] for one in found) >= 93


def test_the_turns_needed_are_enough_and_a_tenth_of_them_is_not() -> None:
    few = of(pairs(10, 3, 1, slower=60, chance=BUSY))
    assert few.needed is not None
    assert few.needed > few.n
    least = max(abs(few.turn.value), 0.05 * few.p50[0])
    calls = math.ceil(few.needed / 3)
    found = [of(pairs(calls, 3, seed, slower=least, chance=BUSY)).turn.interval for seed in range(20)]
    assert sum(one is not None and one[0] > 0 for one in found) >= 12


def turn(number: int, call: int = 0, **values: object) -> Pair:
    return Pair(Place("talk", call, number), *[outcome(400.0, turn=number, **values) for _ in "ab"])


@pytest.mark.parametrize(
    ("found", "kind"),
    [
        ([turn(0, call, speaker=f"s{call}") for call in range(8)], "speakers"),
        ([turn(0, call, speaker="s") for call in range(8)], "calls"),
        ([turn(n, call) for n in range(9) for call in range(3)], "calls"),
        ([turn(n, call) for n in range(9) for call in range(2)], "recordings"),
        ([turn(n, call) for n in range(5) for call in range(2)], "turns"),
    ],
)
def test_the_largest_groups_of_which_there_are_enough_are_drawn(found: list[Pair], kind: str) -> None:
    judged = groups(found)
    assert judged is not None
    assert judged.kind == kind


def test_seven_turns_have_no_interval() -> None:
    few = of([turn(n) for n in range(7)])
    assert (few.n, few.drawn, few.turn.interval, few.needed, few.p95) == (7, None, None, None, None)
    assert durations([], []) is None


def test_unanswered_turns_are_later_than_any_without_hiding_the_others() -> None:
    found = [turn(0, call) for call in range(20)]
    one = durations(found, [(0.4, 0.5)] * 18 + [(0.4, math.inf)] * 2)
    assert one is not None
    assert (one.turn.value, one.p50, one.p95) == (100.0, (400.0, 500.0), (400.0, math.inf))
    most = durations(found, [(0.4, math.inf)] * 15 + [(0.4, 0.5)] * 5)
    assert most is not None
    assert most.turn.value == math.inf
    assert most.turn.interval is not None
    assert most.turn.interval[0] > 0
    assert most.needed is None


def test_a_share_is_that_of_the_whole_that_was_drawn() -> None:
    found = [turn(0, call) for call in range(10)]
    wer = share(found, [(1.0, 2.0, 5.0)] * 10)
    assert wer is not None
    assert (wer.a, wer.b, wer.change.value, wer.change.interval) == (0.2, 0.4, 0.2, (0.2, 0.2))
    assert share(found, [(0.0, 0.0, 0.0)] * 10) is None
