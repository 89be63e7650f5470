import pytest

from voice.server.event_loop import WINDOW, LoopLoad


def test_a_loop_that_works_half_of_the_time_is_half_busy() -> None:
    load = LoopLoad()
    for tenth in range(200):
        load.worked(tenth / 10, tenth / 10 + 0.05)
    assert load.busy(20.0) == pytest.approx(0.5, abs=0.05)
    assert load.longest(20.0) == pytest.approx(0.05)


def test_work_that_is_long_over_counts_no_more() -> None:
    load = LoopLoad()
    load.worked(0.0, WINDOW)
    assert load.busy(WINDOW) == pytest.approx(1.0, abs=0.1)
    assert load.busy(3 * WINDOW) == 0.0
    assert load.longest(3 * WINDOW) == 0.0


def test_a_process_that_is_woken_late_delays_without_work() -> None:
    load = LoopLoad()
    load.worked(1.0, 1.001)
    load.late(0.08, 1.2)
    assert load.longest(1.3) == 0.08
    assert load.busy(2.0) < 0.01


def test_before_any_work_there_is_no_load() -> None:
    assert (LoopLoad().busy(5.0), LoopLoad().longest(5.0)) == (0.0, 0.0)
