"""One thread serves all calls: the most urgent first, in turns, and nothing that is no longer needed."""

import asyncio
import threading
from collections.abc import Iterator

import pytest

from voice.tts.synthesis_thread import SynthesisThread, Urgency, Urgent


@pytest.fixture
def thread() -> Iterator[SynthesisThread]:
    thread = SynthesisThread()
    yield thread
    thread.close()


class Work:
    """Steps that note their names; those queued while `busy` holds the thread wait for each other."""

    def __init__(self, thread: SynthesisThread) -> None:
        self.thread = thread
        self.done: list[str] = []
        self.gate = threading.Event()

    def busy(self) -> asyncio.Task[bool]:
        return asyncio.create_task(self.thread.run(lambda: self.gate.wait(30), Urgency.FIRST))

    def clause(self, name: str, steps: int, urgency: Urgent) -> asyncio.Task[None]:
        def work() -> Iterator[str]:
            for step in range(steps):
                self.done.append(f"{name}{step}")
                yield name

        async def run() -> None:
            async for _ in self.thread.steps(work(), urgency):
                pass

        return asyncio.create_task(run())


async def test_what_a_listener_notices_first_is_done_first(thread: SynthesisThread) -> None:
    work = Work(thread)
    blocked = work.busy()
    clauses = [
        work.clause(urgency.name, 2, urgency)
        for urgency in (Urgency.AHEAD, Urgency.LATER, Urgency.FIRST, Urgency.PROMISED)
    ]
    await asyncio.sleep(0.05)
    work.gate.set()
    await asyncio.gather(blocked, *clauses)
    assert [name for name in work.done if name.endswith("0")] == ["PROMISED0", "FIRST0", "LATER0", "AHEAD0"]


async def test_a_clause_becomes_urgent_while_it_waits(thread: SynthesisThread) -> None:
    work, left = Work(thread), [3.0]
    blocked = work.busy()
    first = work.clause("first", 1, Urgency.FIRST)
    later = work.clause("later", 1, lambda: Urgency.PROMISED if left[0] < 0.5 else Urgency.LATER)
    await asyncio.sleep(0.05)
    left[0] = 0.1
    work.gate.set()
    await asyncio.gather(blocked, first, later)
    assert work.done == ["later0", "first0"]


async def test_clauses_of_equal_urgency_take_turns(thread: SynthesisThread) -> None:
    work = Work(thread)
    blocked = work.busy()
    clauses = [work.clause(name, 50, Urgency.LATER) for name in "ab"]
    await asyncio.sleep(0.05)
    work.gate.set()
    await asyncio.gather(blocked, *clauses)
    assert work.done.index("b0") < work.done.index("a2")
    assert work.done.index("b40") < work.done.index("a49")


async def test_a_clause_left_off_ends_with_the_step_under_way(thread: SynthesisThread) -> None:
    work, started, steps = Work(thread), threading.Event(), []

    def clause() -> Iterator[int]:
        for step in range(9):
            steps.append(step)
            started.set()
            work.gate.wait(30)
            yield step

    async def run() -> None:
        async for _ in thread.steps(clause(), Urgency.FIRST):
            pass

    running = asyncio.create_task(run())
    waiting = work.clause("waiting", 1, Urgency.LATER)
    await asyncio.to_thread(started.wait, 30)
    for task in (running, waiting):
        task.cancel()
    await asyncio.gather(running, waiting, return_exceptions=True)
    work.gate.set()
    await thread.run(lambda: None, Urgency.LATER)
    assert steps == [0]
    assert work.done == []


async def test_an_error_reaches_who_waits_and_the_thread_goes_on(thread: SynthesisThread) -> None:
    def fail() -> None:
        raise ValueError("no such phoneme")

    with pytest.raises(ValueError, match="no such phoneme"):
        await thread.run(fail, Urgency.FIRST)
    assert await thread.run(lambda: 7, Urgency.FIRST) == 7
