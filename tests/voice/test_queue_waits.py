from voice.queue_waits import ENOUGH, WINDOW, QueueWaits


def test_the_tail_is_what_nine_in_ten_do_not_exceed() -> None:
    waits = QueueWaits("synthesis")
    assert waits.tail(0.0) is None
    for number in range(10):
        waits.note(number / 10, now=1.0)
    assert waits.tail(1.0) == 0.9
    for _ in range(10):
        waits.note(0.0, now=2.0)
    assert waits.tail(2.0) == 0.8


def test_one_wait_alone_says_nothing() -> None:
    waits = QueueWaits("recognition")
    for _ in range(ENOUGH - 1):
        waits.note(3.0, now=1.0)
    assert waits.tail(1.0) is None
    waits.note(3.0, now=1.0)
    assert waits.tail(1.0) == 3.0


def test_old_waits_are_forgotten() -> None:
    waits = QueueWaits("synthesis")
    waits.note(3.0, now=1.0)
    for _ in range(ENOUGH):
        waits.note(0.1, now=9.0)
    assert waits.tail(1.5 + WINDOW) == 0.1
    assert waits.tail(20.0 + WINDOW) is None


def test_each_wait_is_passed_on() -> None:
    waits, seen = QueueWaits("recognition"), list[float]()
    waits.observer = seen.append
    waits.note(0.2, now=1.0)
    assert seen == [0.2]
