"""Stalls follow from what a loop did when."""

from voice.server.event_loop import StallLog


def kinds(log: StallLog) -> list[tuple[str, float, float]]:
    return [(s.kind, s.at, round(s.ms / 1000, 3)) for s in log.between(0, 1e9)]


def test_work_of_20_ms_is_a_stall_and_less_is_not() -> None:
    log = StallLog()
    log.worked(1.0, 1.019)
    log.worked(2.0, 2.021)
    assert kinds(log) == [("event loop", 2.0, 0.021)]


def test_a_poll_that_returns_late_is_a_stall_from_when_it_was_due() -> None:
    log = StallLog()
    log.slept(1.0, 3.0, None)
    log.slept(4.0, 4.03, 0.02)
    log.slept(5.0, 5.05, 0.02)
    log.slept(6.0, 6.04, 0)
    assert kinds(log) == [("event loop", 5.02, 0.03), ("event loop", 6.0, 0.04)]


def test_a_collection_counts_once_and_not_as_work() -> None:
    log = StallLog()
    log.collected(1.0, 1.06)
    log.worked(0.995, 1.07)
    log.collected(2.0, 2.03)
    log.worked(2.0, 2.1)
    log.worked(3.0, 3.03)
    assert kinds(log) == [
        ("garbage collection", 1.0, 0.06),
        ("garbage collection", 2.0, 0.03),
        ("event loop", 2.0, 0.07),
        ("event loop", 3.0, 0.03),
    ]


def test_stalls_are_selected_by_when_they_ended() -> None:
    log = StallLog()
    log.worked(1.0, 1.5)
    log.worked(2.0, 2.5)
    assert [stall.at for stall in log.between(1.5, 2.5)] == [2.0]
    assert log.between(0, 1.4) == []
