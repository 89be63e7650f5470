"""A tier on the Responses wire in a call with the simulator's real socket."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.clocks.system_clock import SystemClock
from pipecat.frames.frames import (
    EndFrame,
    Frame,
    StartFrame,
)
from pipecat.processors.aggregators.llm_context import NOT_GIVEN, LLMContext
from pipecat.processors.frame_processor import FrameProcessorSetup
from pipecat.services.llm_service import LLMService
from pipecat.utils.asyncio.task_manager import TaskManager
from websockets.asyncio.server import Server

from pipelines.lab.simulator.app import Endpoint, serving
from pipelines.lab.simulator.journal import Exchange
from pipelines.lab.simulator.simulator import Simulator
from voice.frames import AnswerTextFrame
from voice.llm.answer.llm_request import LLMRequest
from voice.llm.policy.situation import RequestState
from voice.llm.tiers.tier import Tier
from voice.llm.tools import describe
from voice.llm.wires.chat.service import ChatService, make_client
from voice.llm.wires.responses.service import ResponsesService

FAST = "sim:steady?ttft_ms=20&tokens_per_s=2000"
SLOW = "sim:steady?ttft_ms=20&tokens_per_s=10"
NEVER = "sim:steady?ttft_ms=60000"
PROMPT = "You are a helpful voice. Answer in one or two short sentences, without lists, and never mention the weather."
CAR = "remember that my car is on level three"
LIMIT = 10.0


async def until(condition: Callable[[], Any]) -> None:
    async with asyncio.timeout(LIMIT):
        while not condition():
            await asyncio.sleep(0.005)


def make_service(endpoint: Endpoint, model: str = FAST, *, profile: str = "steady", **options: Any) -> ResponsesService:
    return ResponsesService(
        base_url=f"http://{endpoint.host}:{endpoint.port}/with/model={profile}/v1",
        **{
            "api_key": "none",
            "model": model,
            "prompt": PROMPT,
            "max_tokens": 200,
            "silence": 5.0,
            "where": "the simulator",
            **options,
        },
    )


@dataclass
class Call:
    """A tier in a call, and the call's conversation."""

    tier: Tier
    simulator: Simulator
    tools: ToolsSchema | None = None
    messages: list[Any] = field(default_factory=list)

    @property
    def context(self) -> LLMContext:
        return LLMContext(list(self.messages), tools=self.tools or NOT_GIVEN)

    def use(self, model: str) -> None:
        """From the next turn on."""
        cast(Any, self.tier.service)._settings.model = model

    @property
    def requests(self) -> list[Exchange]:
        """What the server was asked, without warm-ups."""
        return [exchange for exchange in self.simulator.journal.exchanges if not exchange.warm_up]

    def start(self, context: LLMContext | None = None) -> tuple[asyncio.Task[None], LLMRequest]:
        attempt = LLMRequest(RequestState(number=0, tier=self.tier.name, request=time.monotonic()))
        return self.tier.ask(attempt, context or self.context, lambda: None), attempt

    async def ask(self, text: str | None = None) -> LLMRequest:
        """A turn; a whole answer is kept in the conversation."""
        if text is not None:
            self.messages.append({"role": "user", "content": text})
        task, attempt = self.start()
        async with asyncio.timeout(LIMIT):
            await task
        if attempt.state.outcome == "complete" and not attempt.calls:
            self.messages.append({"role": "assistant", "content": said(attempt)})
        return attempt

    async def interrupt(self, text: str, *, tokens: int = 3) -> LLMRequest:
        """A turn that is cancelled when so many tokens of its answer were sent."""
        self.messages.append({"role": "user", "content": text})
        count = len(self.requests)
        task, attempt = self.start()
        await until(lambda: len(self.requests) > count and self.requests[-1].tokens_sent >= tokens)
        attempt.cancel(time.monotonic())
        task.cancel()
        return attempt

    async def ready(self, sockets: int = 2) -> None:
        """Wait until so many sockets are open and the warm-up is over."""
        await until(lambda: len(self.simulator.connections) == sockets)
        await until(lambda: [e.outcome for e in self.simulator.journal.exchanges if e.warm_up] == ["completed"])
        await asyncio.sleep(0.02)


def said(attempt: LLMRequest) -> str:
    return "".join(piece.text for piece in attempt.take() if isinstance(piece, AnswerTextFrame))


@asynccontextmanager
async def in_call(service: LLMService[Any], simulator: Simulator) -> AsyncIterator[Call]:
    """A tier from its call's start to its end, which leaves no task."""

    async def relay(_: Frame) -> None:
        return

    tasks = TaskManager()
    tier = Tier("large", service)
    setup = FrameProcessorSetup(clock=SystemClock(), task_manager=tasks, pipeline_worker=cast(Any, None))
    await tier.setup(setup, relay)
    await tier.tell(StartFrame())
    try:
        yield Call(tier, simulator)
    finally:
        await tier.tell(EndFrame())
        await tier.cleanup()
        await asyncio.sleep(0)
        assert list(tasks.current_tasks()) == []


@asynccontextmanager
async def calling(model: str = FAST, *, sim: Simulator | None = None, **options: Any) -> AsyncIterator[Call]:
    simulator = sim or Simulator(seed=1)
    async with serving(simulator) as endpoint:
        async with in_call(make_service(endpoint, model, **options), simulator) as call:
            yield call
        await until(lambda: len(simulator.connections) == 0)


def weather() -> ToolsSchema:
    async def get_weather(city: str) -> str:
        """Look up the weather of a city."""
        return city

    return ToolsSchema(standard_tools=[describe(get_weather)])


async def chat_sizes(*, turns: int) -> list[int]:
    simulator = Simulator(seed=1)
    async with serving(simulator) as endpoint:
        client = make_client(base_url=endpoint.base_url, api_key="none", silence=5.0)
        service = ChatService(client, model=FAST, prompt=PROMPT, max_tokens=200, where="the simulator")
        async with in_call(service, simulator) as call:
            for turn in range(turns):
                await call.ask(f"what is {turn % 10} plus {turn // 10}")
            sizes = [exchange.bytes_in for exchange in call.requests]
        await client.close()
    return sizes


async def ended(exchange: Exchange) -> Exchange:
    await until(lambda: exchange.outcome is not None)
    return exchange


def listening(server: Server) -> Any:
    host, port = server.sockets[0].getsockname()
    return SimpleNamespace(host=host, port=port)
