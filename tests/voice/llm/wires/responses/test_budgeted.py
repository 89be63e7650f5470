"""The Responses wire in the budgeted service."""

from dataclasses import dataclass
from typing import Any, cast

import pytest
from pipecat.frames.frames import (
    Frame,
    InterruptionFrame,
    LLMContextFrame,
    LLMTextFrame,
)
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.tests.utils import SleepFrame, run_test

from latency.budget import Budget
from pipelines.lab.simulator.app import serving
from pipelines.lab.simulator.simulator import Simulator
from pipelines.lab.simulator.timetable import Fault
from tests.voice.llm.answer import budgeted_rig as rig
from tests.voice.llm.wires.responses.rig import FAST, SLOW, make_service, until
from voice.frames import RequestsFrame
from voice.llm.answer.service import BudgetedLLMService
from voice.llm.policy.make import make_policy
from voice.llm.policy.tier_statistics import TierStatistics
from voice.llm.tiers.tier import Tier


@dataclass
class Turns:
    """What a budgeted call did."""

    down: list[Frame]
    records: list[RequestsFrame]
    simulator: Simulator

    @property
    def said(self) -> str:
        return "".join(frame.text for frame in self.down if isinstance(frame, LLMTextFrame))


async def budgeted(frames: list[Frame], *, fault: Fault | None = None, large: str = SLOW) -> Turns:
    """A call over two tiers, both on this wire, under the policy fallback."""
    simulator = Simulator(seed=1)
    async with serving(simulator) as endpoint:
        tiers = [Tier("large", make_service(endpoint, large)), Tier("fast", make_service(endpoint, FAST))]
        if fault:
            cast(Any, tiers[0].service)._settings.model += f"&fault={fault}"
        service = rig.budgeted(
            tiers,
            make_policy("fallback", large="large", fast="fast"),
            book=TierStatistics({"large": 1.0, "fast": 0.15}),
            budget=Budget.with_llm(0.45),
        )
        records: list[RequestsFrame] = []
        exchanges = simulator.journal.exchanges

        @service.event_handler("on_before_push_frame")  # type: ignore[untyped-decorator]
        async def record(_: BudgetedLLMService, frame: Frame) -> None:
            if isinstance(frame, RequestsFrame) and frame.final:
                records.append(frame)

        @service.event_handler("on_before_process_frame")  # type: ignore[untyped-decorator]
        async def wait_for_sockets(_: BudgetedLLMService, frame: Frame) -> None:
            if isinstance(frame, LLMContextFrame):
                await until(lambda: sum(one.warm_up and one.outcome is not None for one in exchanges) == len(tiers))

        down, _ = await run_test(service, frames_to_send=[*frames, SleepFrame(sleep=0.3)], start_timeout=30)
        await until(lambda: len(simulator.connections) == 0)
    return Turns(list(down), records, simulator)


def ask(text: str) -> LLMContextFrame:
    return LLMContextFrame(LLMContext([{"role": "user", "content": text}]))


@pytest.mark.parametrize(
    "fault", [Fault.SILENT, Fault.KEEPALIVE, Fault.DRIBBLE, Fault.SERVER_ERROR, Fault.RATE_LIMITED, Fault.CUT_SOCKET]
)
async def test_in_the_budgeted_service_the_fast_tier_answers_for_a_large_one_that_does_not(fault: Fault) -> None:
    turns = await budgeted(
        [ask("what is two plus two"), SleepFrame(sleep=0.05), ask("what is three plus three")],
        fault=fault,
        large=f"{FAST}&after=1",
    )
    assert len(turns.records) == 2
    # A server that asks to wait for seconds is not asked in the next turn.
    waits = fault is Fault.RATE_LIMITED
    assert [attempt.tier for attempt in turns.records[1].attempts].count("large") == (0 if waits else 1)
    for record in turns.records[: 1 if waits else 2]:
        outcomes = {attempt.tier: attempt.outcome for attempt in record.attempts}
        assert outcomes["fast"] == "spoken"
        lost = fault in (Fault.SILENT, Fault.KEEPALIVE, Fault.DRIBBLE)
        assert outcomes["large"] == ("cancelled" if lost else "failed")
        assert record.answer.gave_up is None
    assert turns.said == "2 plus 2 is 4.3 plus 3 is 6."
    served = [exchange for exchange in turns.simulator.journal.exchanges if exchange.fault and not exchange.warm_up]
    seen = "cancelled" if lost else "cut" if fault is Fault.CUT_SOCKET else "failed"
    assert [exchange.outcome for exchange in served] == [seen] * (1 if waits else 2)


async def test_in_the_budgeted_service_an_interruption_is_seen_by_the_server_and_the_next_turn_is_clean() -> None:
    turns = await budgeted(
        [ask("tell me a story"), SleepFrame(sleep=0.3), InterruptionFrame(), ask("what is two plus two")],
        large="sim:steady?ttft_ms=20&tokens_per_s=20",
    )
    assert turns.said.endswith("2 plus 2 is 4.")
    requests = [exchange for exchange in turns.simulator.journal.exchanges if not exchange.warm_up]
    assert requests[0].outcome == "cancelled"
    assert requests[-1].outcome in ("completed", "cancelled")
