"""A cancelled response leaves its socket usable, or replaced, and the conversation whole."""

import asyncio
from typing import Any

import pytest
from pipecat.processors.aggregators.llm_context import LLMContext

from pipelines.lab.simulator.simulator import Simulator
from pipelines.lab.simulator.timetable import Fault
from tests.voice.llm.wires.responses.rig import (
    CAR,
    FAST,
    NEVER,
    SLOW,
    calling,
    said,
    until,
)


async def test_a_forgotten_response_is_made_up_for_on_the_same_socket() -> None:
    async with calling(SLOW, sim=Simulator(seed=1, on_cancel="forget")) as call:
        call.use(FAST)
        await call.ready()
        await call.ask(CAR)
        call.use(SLOW)
        await call.interrupt("tell me a story")
        await until(lambda: call.requests[-1].outcome == "cancelled")
        await asyncio.sleep(0.05)
        call.use(FAST)
        attempt = await call.ask("where is my car")
        *_, cancelled, unknown, again = call.requests
    assert attempt.state.outcome == "complete"
    assert call.messages[-1]["content"] == "Your car is on level three."
    assert (cancelled.outcome, unknown.outcome, again.outcome) == ("cancelled", "failed", "completed")
    assert cancelled.connection == unknown.connection == again.connection


async def test_a_cancelled_response_is_drained_after_the_turn_and_its_socket_still_takes_small_requests() -> None:
    async with calling(SLOW) as call:
        await call.ready()
        call.use(FAST)
        await call.ask(CAR)
        call.use(SLOW)
        attempt = await call.interrupt("tell me a story")
        await until(lambda: call.requests[-1].outcome == "cancelled")
        await asyncio.sleep(0.05)
        call.use(FAST)
        call.messages.append({"role": "assistant", "content": said(attempt)})
        await call.ask("where is my car")
        first, cancelled, last = call.requests
    assert call.messages[-1]["content"] == "Your car is on level three."
    assert first.connection == cancelled.connection == last.connection
    assert last.bytes_in < first.bytes_in + 200


@pytest.mark.parametrize("on_cancel", ["keep", "ignore", "unknown"])
async def test_the_next_turn_does_not_wait_until_a_cancelled_response_is_drained(on_cancel: Any) -> None:
    async with calling(SLOW, sim=Simulator(seed=1, on_cancel=on_cancel)) as call:
        await call.ready()
        await call.interrupt("tell me a story")
        call.use(FAST)
        assert (await call.ask("what is two plus two")).state.outcome == "complete"
        cancelled, after = call.requests
        await until(lambda: cancelled.outcome is not None)
        await call.ready()
        await call.ask("what is three plus three")
    assert cancelled.outcome == "cancelled"
    assert cancelled.ended is not None
    assert after.ended is not None
    assert after.connection != cancelled.connection
    if on_cancel == "ignore":
        assert after.ended < cancelled.ended, "answered while the other one was still going on"
    if on_cancel != "keep":
        assert call.requests[-1].connection == after.connection
        assert call.simulator.connections.opened == 3


async def test_a_request_cancelled_before_the_server_named_it_is_cancelled_by_the_close() -> None:
    async with calling(NEVER, sim=Simulator(seed=1)) as call:
        await call.ready()
        call.simulator.set_fault("steady", Fault.SILENT)
        await call.interrupt("hello", tokens=0)
        (cancelled,) = call.requests
        await until(lambda: cancelled.outcome == "cancelled")
        call.simulator.set_fault("steady", None)
        call.use(FAST)
        assert (await call.ask("what is two plus two")).state.outcome == "complete"
        assert call.requests[-1].connection != cancelled.connection
        await until(lambda: len(call.simulator.connections) == 2)


async def test_many_cancelled_requests_in_a_row_leave_no_socket_behind() -> None:
    async with calling(SLOW) as call:
        await call.ready()
        for turn in range(20):
            # Some before the first token.
            await call.interrupt("tell me a story", tokens=turn % 3)
        await until(lambda: all(exchange.outcome == "cancelled" for exchange in call.requests))
        await until(lambda: len(call.simulator.connections) == 2)
        call.use(FAST)
        assert (await call.ask("what is two plus two")).state.outcome == "complete"


async def test_a_request_that_waits_for_a_connection_can_be_cancelled() -> None:
    simulator = Simulator(seed=1, faults={"steady": Fault.SLOW_CONNECT})
    async with calling(sim=simulator) as call:
        task, _ = call.start(LLMContext([{"role": "user", "content": "hello"}]))
        await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.wait([task], timeout=1.0)
        assert task.cancelled()
        assert call.requests == []


@pytest.mark.slow
async def test_a_thousand_turns_with_interruptions_leave_no_task_and_no_socket_behind() -> None:
    counts: list[int] = []
    async with calling() as call:
        await call.ready()
        for turn in range(1000):
            if turn % 3 == 0:
                call.use(SLOW)
                await call.interrupt("tell me a story", tokens=turn % 2)
                call.use(FAST)
            assert (await call.ask("what is two plus two")).state.outcome == "complete"
            call.messages.clear()
            if turn % 100 == 99:
                await until(lambda: len(call.simulator.connections) == 2)
                await asyncio.sleep(0.1)
                counts.append(len(asyncio.all_tasks()))
    assert max(counts[1:]) <= counts[0] + 2
