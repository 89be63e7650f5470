"""Asks a tier a few times, one request after the other, through the service that calls use."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

from pipecat.clocks.system_clock import SystemClock
from pipecat.frames.frames import EndFrame, Frame, StartFrame
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.frame_processor import FrameProcessorSetup
from pipecat.utils.asyncio.task_manager import TaskManager

from pipelines.lab.probing.figures import Sample
from pipelines.providers.provider import TierTable
from pipelines.providers.resources import Resources
from pipelines.tiers.table import Tiers
from voice.llm.answer.llm_request import LLMRequest
from voice.llm.policy.situation import RequestState
from voice.llm.tiers.tier import Tier

QUESTION = "Explain in three sentences how a rainbow comes about."
WITHIN = 60.0
"""Seconds for a request; one that takes longer has failed."""
FEW_TOKENS = 8
"""An answer with fewer tokens shows no rate."""


async def ask_tier(
    name: str, table: TierTable, llm: Tiers, *, times: int, report: Callable[[Sample], None]
) -> list[Sample]:
    """The samples of `times` requests. An earlier one opens the connection and does not count.

    Args:
        name: the tier's.
        table: its settings.
        llm: the table that contains it.
        times: the number of requests that count.
        report: called with each sample.

    Raises:
        ComponentError: something that runs on this machine is missing.
    """
    resources = Resources()
    model = table.model_of(llm, resources)
    samples: list[Sample] = []
    try:
        await model.start()
        tier = Tier(name, model.service(prompt=llm.prompt, tools=(), requests=1), price=table.billing)
        async with _in_call(tier):
            for number in range(times + 1):
                sample = await _ask(tier, number)
                if number:
                    samples.append(sample)
                    report(sample)
                elif sample.failed:
                    return [sample]
    finally:
        await model.close()
        await resources.close()
    return samples


@asynccontextmanager
async def _in_call(tier: Tier) -> AsyncIterator[None]:
    async def relay(_: Frame) -> None:
        """Drop a frame: there is no pipeline."""

    # Services that make requests need no worker.
    setup = FrameProcessorSetup(clock=SystemClock(), task_manager=TaskManager(), pipeline_worker=cast(Any, None))
    await tier.setup(setup, relay)
    await tier.tell(StartFrame())
    try:
        yield
    finally:
        await tier.tell(EndFrame())
        await tier.cleanup()


async def _ask(tier: Tier, number: int) -> Sample:
    attempt = LLMRequest(RequestState(number=number, tier=tier.name, request=time.monotonic()))
    task = tier.ask(attempt, LLMContext([{"role": "user", "content": QUESTION}]), lambda: None)
    _, late = await asyncio.wait([task], timeout=WITHIN)
    if late:
        attempt.fail(f"it was not complete within {WITHIN:g} s", time.monotonic())
        await tier.settle()
    record = attempt.record(response=0, price=tier.price)
    if record.failed or record.first_token is None or record.request is None:
        return Sample(usd=record.usd, served=record.served, failed=record.failed or "it gave no words")
    return Sample(
        first=record.first_token - record.request,
        tokens_per_second=_rate(attempt),
        usd=record.usd,
        served=record.served,
    )


def _rate(attempt: LLMRequest) -> float | None:
    """Tokens a second after the first one, without thoughts before it."""
    state = attempt.state
    if attempt.usage is None or state.first_token is None or state.end is None:
        return None
    spoken = attempt.usage.completion_tokens - (attempt.usage.reasoning_tokens or 0)
    seconds = state.end - state.first_token
    return (spoken - 1) / seconds if spoken >= FEW_TOKENS and seconds > 0 else None
