"""A simulator that serves on loopback, and OpenAI's SDK connected to it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from openai import AsyncOpenAI
from openai.types.chat import ChatCompletionMessageParam

from pipelines.lab.simulator.app import serving
from pipelines.lab.simulator.journal import Exchange
from pipelines.lab.simulator.simulator import Simulator

FAST = "sim:steady?ttft_ms=20&tokens_per_s=2000"
LIMIT = 10.0
"""Longest wait in seconds for what must happen."""


def user(text: str) -> list[ChatCompletionMessageParam]:
    """A conversation of one user message."""
    return [{"role": "user", "content": text}]


@asynccontextmanager
async def simulated(simulator: Simulator | None = None) -> AsyncIterator[tuple[Simulator, AsyncOpenAI]]:
    """A simulator (seed 1 unless given) and a client that does not retry."""
    simulator = simulator or Simulator(seed=1)
    async with (
        serving(simulator) as endpoint,
        AsyncOpenAI(base_url=endpoint.base_url, api_key="none", max_retries=0) as client,
    ):
        yield simulator, client


async def ended(exchange: Exchange) -> Exchange:
    """The request, once it has ended."""
    async with asyncio.timeout(LIMIT):
        while exchange.outcome is None:
            await asyncio.sleep(0.005)
    return exchange
