"""What is left out, and when a call is refused, by what the calls under way are measured to need."""

import pytest

from voice.queue_waits import QueueWaits
from voice.server.admission import FEWEST, RETRY_AFTER, SETTLED, STAGES, Headroom
from voice.server.event_loop import WINDOW, LoopLoad

NOW = 100.0
OLD = SETTLED + 1


def busy(share: float) -> LoopLoad:
    """A loop that worked this share of the window before `NOW`."""
    load = LoopLoad()
    steps = round(WINDOW / 0.05)
    for step in range(steps):
        start = NOW - WINDOW + step * 0.05
        load.worked(start, start + share * 0.05)
    return load


def waits(stage: str, seconds: float) -> QueueWaits:
    found = QueueWaits(stage)
    for _ in range(10):
        found.note(seconds, NOW - 1)
    return found


def test_a_quiet_server_leaves_nothing_out_and_takes_calls() -> None:
    headroom = Headroom(busy(0.2), [waits("synthesis", 0.01), waits("event_loop", 0.001)])
    assert not headroom.is_scarce(NOW)
    assert headroom.refusal(NOW, ages=[OLD, OLD]) is None
    assert Headroom().refusal(NOW, ages=[OLD]) is None


def test_optional_work_is_left_out_before_a_call_is_refused() -> None:
    headroom = Headroom(busy(0.71))
    assert headroom.is_scarce(NOW)
    assert headroom.refusal(NOW, ages=[OLD] * 20) is None


def test_a_call_is_refused_that_would_need_more_than_there_is() -> None:
    # Four calls need 0.61, so that five would need 0.76.
    refusal = Headroom(busy(0.611)).refusal(NOW, ages=[OLD] * 4)
    assert refusal is not None
    assert (refusal.kind, refusal.retry_after) == ("overloaded", RETRY_AFTER)
    assert refusal.reason == "4 calls need 61% of what this server can do; call again in 10 s"
    assert len(refusal.reason.encode()) <= 123
    # Of ten calls, each needs less.
    assert Headroom(busy(0.611)).refusal(NOW, ages=[OLD] * 10) is None


def test_calls_that_have_just_begun_count_before_they_are_measured() -> None:
    headroom = Headroom(busy(0.5))
    assert headroom.refusal(NOW, ages=[OLD] * 4) is None
    assert headroom.refusal(NOW, ages=[OLD] * 4 + [0.5] * 3) is not None


def test_calls_that_begin_one_after_the_other_are_taken_while_there_is_room() -> None:
    # Each needs a tenth, of which as much is measured as it has been there.
    ages = [SETTLED, 0.8 * SETTLED, 0.6 * SETTLED, 0.4 * SETTLED, 0.2 * SETTLED]
    assert Headroom(busy(0.3)).refusal(NOW, ages=ages) is None


def test_what_a_call_takes_to_begin_is_not_expected_of_it_later() -> None:
    # As measured: eight calls that have all been there for a while need 0.62.
    ages = [10.0, 8.6, 7.1, 5.7, 4.3, 2.9, 1.4]
    assert Headroom(busy(0.52)).refusal(NOW, ages=ages) is None
    assert Headroom(busy(0.65)).refusal(NOW, ages=ages) is not None


def test_before_any_call_is_measured_calls_are_taken() -> None:
    assert Headroom(busy(0.9)).refusal(NOW, ages=[]) is None
    assert Headroom(busy(0.9)).refusal(NOW, ages=[0.1] * 2 * FEWEST) is None


def test_a_loop_that_is_busy_with_few_calls_may_be_kept_waiting_by_others() -> None:
    assert Headroom(busy(0.9)).refusal(NOW, ages=[OLD] * (FEWEST - 1)) is None
    assert Headroom(busy(0.9)).refusal(NOW, ages=[OLD] * FEWEST) is not None


@pytest.mark.parametrize(
    ("stage", "little", "much"), [("event_loop", 0.04, 0.06), ("synthesis", 0.15, 0.3), ("recognition", 0.4, 0.6)]
)
def test_waits_count_like_work(stage: str, little: float, much: float) -> None:
    some, more = Headroom(busy(0.1), [waits(stage, little)]), Headroom(busy(0.1), [waits(stage, much)])
    assert some.is_scarce(NOW)
    assert some.refusal(NOW, ages=[OLD]) is None
    refusal = more.refusal(NOW, ages=[OLD])
    assert refusal is not None
    assert f"calls wait {much:.2f} s for {STAGES[stage]} (1 under way)" in refusal.reason


def test_what_is_long_over_keeps_nobody_out() -> None:
    headroom = Headroom(busy(0.9), [waits("synthesis", 0.9)])
    assert headroom.refusal(NOW, ages=[OLD] * 4) is not None
    assert headroom.refusal(NOW + 20, ages=[OLD] * 4) is None
    assert not headroom.is_scarce(NOW + 20)
