"""The event loop's stalls: from what it did when, and of a real loop."""

import asyncio
import gc
import time

import pytest

from voice.server.loop_watch import LoopWatch, StallLog


def kinds(log: StallLog) -> list[tuple[str, float, float]]:
    return [(s.kind, s.at, round(s.seconds, 3)) for s in log.between(0, 1e9)]


def test_work_of_20_ms_is_a_stall_and_less_is_none() -> None:
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


def test_a_collection_is_told_once_and_not_as_work() -> None:
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


def test_stalls_are_told_by_when_they_ended() -> None:
    log = StallLog()
    log.worked(1.0, 1.5)
    log.worked(2.0, 2.5)
    assert [stall.at for stall in log.between(1.5, 2.5)] == [2.0]
    assert log.between(0, 1.4) == []


def block(seconds: float) -> None:
    time.sleep(seconds)


async def test_a_block_of_a_real_loop_is_noted_with_its_time_and_length() -> None:
    watch = LoopWatch.of(asyncio.get_running_loop())
    assert watch is not None
    await asyncio.sleep(0)
    before = time.monotonic()
    block(0.15)
    after = time.monotonic()
    await asyncio.sleep(0.01)
    (stall,) = [one for one in watch.between(before, time.monotonic()) if one["ms"] > 140]
    assert stall["kind"] == "event loop"
    assert stall["ms"] == pytest.approx((after - before) * 1000, abs=30)
    assert stall["at"] == pytest.approx(before, abs=0.03)


async def test_a_long_collection_is_noted_as_one() -> None:
    watch = LoopWatch.of(asyncio.get_running_loop())
    assert watch is not None
    rings: list[list[object]] = [[] for _ in range(600_000)]
    for ring in rings:
        ring.append(ring)
    before = time.monotonic()
    gc.collect()
    took = (time.monotonic() - before) * 1000
    assert took > 20, "a collection of 600,000 rings takes longer than what is noted"
    found = [one for one in watch.between(before, time.monotonic()) if one["kind"] == "garbage collection"]
    assert max(one["ms"] for one in found) == pytest.approx(took, rel=0.3)
    del rings
    await asyncio.sleep(0)


async def test_a_loop_has_one_watch_and_a_loop_without_selector_none() -> None:
    loop = asyncio.get_running_loop()
    assert LoopWatch.of(loop) is LoopWatch.of(loop)

    class Foreign(asyncio.AbstractEventLoop):
        pass

    assert LoopWatch.of(Foreign()) is None


async def test_the_loop_is_woken_while_a_call_is_on_and_left_alone_afterwards() -> None:
    loop = asyncio.get_running_loop()
    watch = LoopWatch(loop)
    scheduled = []
    call_later = loop.call_later
    loop.call_later = lambda delay, callback, *args: scheduled.append(delay) or call_later(delay, callback, *args)  # type: ignore[func-returns-value]
    try:
        watch.call_began()
        watch.call_began()
        await asyncio.sleep(0.2)
        watch.call_ended()
        known = len(scheduled)
        await asyncio.sleep(0.1)
        assert len(scheduled) > known > 1, "one of two calls is still on"
        watch.call_ended()
        await asyncio.sleep(0.05)
        known = len(scheduled)
        await asyncio.sleep(0.1)
        # The sleep's own timer is the only one.
        assert len(scheduled) - known <= 1
    finally:
        loop.call_later = call_later  # type: ignore[method-assign]


def test_the_watch_goes_with_its_loop() -> None:
    known = len(gc.callbacks)

    async def watched() -> None:
        assert LoopWatch.of(asyncio.get_running_loop()) is not None

    asyncio.run(watched())
    gc.collect()
    assert len(gc.callbacks) == known


@pytest.mark.slow
def test_watching_a_call_costs_less_than_a_hundredth_of_a_core(capsys: pytest.CaptureFixture[str]) -> None:
    """A loop as busy as one with a call: 100 wake-ups a second."""

    def cpu(watching: bool) -> float:
        async def run() -> float:
            watch = LoopWatch.of(asyncio.get_running_loop()) if watching else None
            if watch:
                watch.call_began()
            before = time.process_time()
            for _ in range(500):
                await asyncio.sleep(0.01)
            if watch:
                watch.call_ended()
            return time.process_time() - before

        return asyncio.run(run()) / 5

    plain, watched = cpu(False), cpu(True)
    with capsys.disabled():
        print(f"\nevent loop: {plain:.3%} of a core unwatched, {watched:.3%} watched")
    assert watched - plain < 0.01
