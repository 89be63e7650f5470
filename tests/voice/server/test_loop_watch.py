"""The stalls of a real event loop are measured."""

import asyncio
import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import pytest

from voice.server.event_loop import TICK, LoopWatch


@contextmanager
def watched() -> Iterator[LoopWatch]:
    """The watch of the running loop."""
    watch = LoopWatch.begin(asyncio.get_running_loop())
    assert watch is not None
    yield watch
    watch.close()


async def test_a_loop_that_is_watched_no_longer_is_as_it_was() -> None:
    loop: Any = asyncio.get_running_loop()
    known = len(gc.callbacks)
    with watched():
        assert "select" in vars(loop._selector)
        assert len(gc.callbacks) == known + 1
    assert len(gc.callbacks) == known
    assert "select" not in vars(loop._selector)


def test_a_loop_without_a_selector_is_not_watched() -> None:
    class Foreign(asyncio.AbstractEventLoop):
        pass

    known = len(gc.callbacks)
    assert LoopWatch.begin(Foreign()) is None
    assert len(gc.callbacks) == known


def block(seconds: float) -> None:
    time.sleep(seconds)


async def test_a_block_of_a_real_loop_is_noted_with_its_time_and_length() -> None:
    with watched() as watch:
        await asyncio.sleep(0)
        before = time.monotonic()
        block(0.15)
        after = time.monotonic()
        await asyncio.sleep(0.01)
    (stall,) = [one for one in watch.between(before, time.monotonic()) if one.ms > 140]
    assert stall.kind == "event loop"
    assert stall.ms == pytest.approx((after - before) * 1000, abs=30)
    assert stall.at == pytest.approx(before, abs=0.03)


class SlowToCollect:
    """Garbage that refers to itself, and whose finaliser keeps the collector."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        block(0.15)


async def test_a_long_collection_is_noted_as_one() -> None:
    with watched() as watch:
        SlowToCollect()
        before = time.monotonic()
        gc.collect()
        took = (time.monotonic() - before) * 1000
        found = [one for one in watch.between(before, time.monotonic()) if one.kind == "garbage collection"]
        assert max(one.ms for one in found) == pytest.approx(took, abs=30)
        await asyncio.sleep(0)


class Loop:
    """Keeps the timers that it is given; `run` runs the next one."""

    def __init__(self) -> None:
        self.timers: list[tuple[float, Callable[[], None]]] = []

    def call_later(self, delay: float, callback: Callable[[], None]) -> None:
        self.timers.append((delay, callback))

    def is_closed(self) -> bool:
        return False

    def run(self) -> None:
        self.timers.pop(0)[1]()


def test_the_loop_is_woken_while_a_call_is_on_and_left_alone_afterwards() -> None:
    loop: Any = Loop()
    watch = LoopWatch(loop)
    watch.call_began()
    watch.call_began()
    loop.run()
    loop.run()
    watch.call_ended()
    loop.run()
    assert [delay for delay, _ in loop.timers] == [TICK], "one of two calls is still on"
    watch.call_ended()
    loop.run()
    assert loop.timers == []
    watch.close()


@pytest.mark.slow
def test_watching_a_call_costs_less_than_a_hundredth_of_a_core(capsys: pytest.CaptureFixture[str]) -> None:
    """A loop as busy as one with a call: 100 wake-ups a second."""

    def cpu(watching: bool) -> float:
        async def run() -> float:
            with watched() if watching else nullcontext() as watch:
                if watch:
                    watch.call_began()
                before = time.process_time()
                for _ in range(500):
                    await asyncio.sleep(0.01)
                if watch:
                    watch.call_ended()
                return time.process_time() - before

        return asyncio.run(run()) / 5

    plain, with_watch = cpu(False), cpu(True)
    with capsys.disabled():
        print(f"\nevent loop: {plain:.3%} of a core unwatched, {with_watch:.3%} watched")
    assert with_watch - plain < 0.01
