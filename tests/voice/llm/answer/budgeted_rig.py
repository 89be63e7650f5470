"""The budgeted service over real OpenAI services, and a loopback server that fails in every way providers do."""

import asyncio
import contextlib
import json
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pipecat.frames.frames import EndFrame, Frame, LLMContextFrame, LLMFullResponseStartFrame, LLMTextFrame, StartFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.openai.llm import OpenAILLMService
from pipecat.tests.utils import SleepFrame
from pipecat.workers.runner import WorkerRunner

from latency.budget import Budget
from voice.frames import HoldPhraseFrame, RequestsFrame
from voice.llm.answer.service import BudgetedLLMService
from voice.llm.answer.spoken_service import SpeechRules
from voice.llm.answer.turn_planner import TurnPlanner
from voice.llm.policy.make import make_policy
from voice.llm.policy.policies import Policy
from voice.llm.policy.tier_statistics import TierStatistics
from voice.llm.spending.spending import Spending
from voice.llm.tiers.tier import Tier
from voice.server.event_loop import LoopWatch
from voice.server.garbage_collection import GarbageCollection

PATIENT = 5.0
"""Seconds of budget where the clock is to decide nothing."""


@dataclass
class Server:
    """A Chat Completions server on loopback. `wait` in seconds before the first token."""

    text: str
    fault: str | None = None
    wait: float = 0.02
    gap: float = 0.0
    tool: str | None = None
    asked: list[dict[str, Any]] = field(default_factory=list)
    left: list[float] = field(default_factory=list)
    """When a client went away before its answer was whole."""
    answered: int = 0
    """How many answers were sent whole."""
    open: int = 0
    url: str = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-len"))
                self.asked.append(json.loads(await reader.readexactly(length)))
                gone = asyncio.ensure_future(reader.read(1))
                answer = asyncio.ensure_future(self.answer(writer))
                await asyncio.wait({gone, answer}, return_when=asyncio.FIRST_COMPLETED)
                if gone.done():
                    self.left.append(time.monotonic())
                    answer.cancel()
                    return
                gone.cancel()
                await asyncio.wait({gone})
                if not answer.result():
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.open -= 1
            writer.close()

    async def answer(self, writer: asyncio.StreamWriter) -> bool:
        """Returns whether the connection may be used again."""
        if self.fault == "silent":
            await asyncio.sleep(60)
        if self.fault in ("500", "401", "404"):
            body = b'{"error": {"message": "overloaded"}}'
            head = (
                f"HTTP/1.1 {self.fault} Error\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
            )
            writer.write(head.encode() + body)
            await writer.drain()
            return True
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        await self.send(writer, {"role": "assistant", "content": ""})
        if self.fault == "keepalive":
            while True:
                await self.chunk(writer, b": keep-alive\n\n")
                await asyncio.sleep(0.05)
        if self.fault == "dribble" or (self.fault == "dribble once" and len(self.asked) == 1):
            for index in range(600):
                await self.send(writer, {"content": f"so{index} "})
                await asyncio.sleep(0.1)
        await asyncio.sleep(self.wait)
        called = any(message["role"] == "tool" for message in self.asked[-1]["messages"])
        if self.tool and (self.fault == "calls on" or not called):
            call = {"index": 0, "id": f"call{len(self.asked)}", "type": "function"}
            await self.send(writer, {"tool_calls": [{**call, "function": {"name": self.tool, "arguments": "{}"}}]})
            if self.fault == "stall":
                await asyncio.sleep(60)
        else:
            for number, word in enumerate(self.text.split(" ")):
                await self.send(writer, {"content": word if number == 0 else f" {word}"})
                if self.fault == "midfail" and number == 4:
                    return False
                if self.fault == "stall" and number == 4:
                    await asyncio.sleep(60)
                if self.gap:
                    await asyncio.sleep(self.gap)
        await self.send(writer, {}, finish="stop")
        await self.chunk(writer, b"data: [DONE]\n\n")
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        self.answered += 1
        return True

    async def send(self, writer: asyncio.StreamWriter, delta: dict[str, Any], finish: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        event = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [choice]}
        await self.chunk(writer, f"data: {json.dumps(event)}\n\n".encode())

    async def chunk(self, writer: asyncio.StreamWriter, data: bytes) -> None:
        writer.write(b"%x\r\n%s\r\n" % (len(data), data))
        await writer.drain()


@contextlib.asynccontextmanager
async def serving(server: Server) -> AsyncIterator[Server]:
    if server.fault in ("refuse", "slow-connect"):
        # A port that is bound and does not listen refuses; one whose queue is full lets the client wait.
        with contextlib.ExitStack() as stack:
            taken = stack.enter_context(socket.socket())
            taken.bind(("127.0.0.1", 0))
            if server.fault == "slow-connect":
                taken.listen(0)
                for _ in range(4):
                    filler = stack.enter_context(socket.socket())
                    filler.setblocking(False)
                    filler.connect_ex(taken.getsockname())
            server.url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
            yield server
        return
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
    try:
        yield server
    finally:
        listening.close()


def chat(server: Server) -> OpenAILLMService:
    service = OpenAILLMService(api_key="none", base_url=server.url, settings=OpenAILLMService.Settings(model="m"))
    # The SDK would ask three times, with pauses.
    service._client.max_retries = 0
    return service


Step = Frame | SleepFrame | Callable[[], object]
"""A frame to send, a time to let pass, or something that must come true first."""


class Ear(FrameProcessor):
    """Keeps what the service says."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[Frame] = []

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if direction is FrameDirection.DOWNSTREAM and not isinstance(frame, StartFrame | EndFrame):
            self.heard.append(frame)
        await self.push_frame(frame, direction)


@dataclass
class Call:
    """A service under test, with the instant of every frame it pushed."""

    service: BudgetedLLMService
    book: TierStatistics
    tiers: list[Tier]
    pushed: list[tuple[float, Frame]] = field(default_factory=list)

    async def run(self, steps: Sequence[Step], **options: Any) -> list[Frame]:
        """Go through the steps and hang up; what came out below."""
        ear = Ear()
        worker = PipelineWorker(
            Pipeline([self.service, ear]), cancel_on_idle_timeout=False, enable_rtvi=False, **options
        )
        started = asyncio.Event()

        @worker.event_handler("on_pipeline_started")  # type: ignore[untyped-decorator]
        async def start(_: PipelineWorker, frame: Frame) -> None:
            started.set()

        async def go_through() -> None:
            await started.wait()
            for step in steps:
                if isinstance(step, SleepFrame):
                    await asyncio.sleep(step.sleep)
                elif callable(step):
                    while not step():
                        await asyncio.sleep(0.005)
                else:
                    await worker.queue_frame(step)
            await worker.queue_frame(EndFrame())

        runner = WorkerRunner(handle_sigint=False)
        await runner.add_workers(worker)
        async with asyncio.timeout(60 + len(steps)), asyncio.TaskGroup() as tasks:
            tasks.create_task(runner.run())
            tasks.create_task(go_through())
        return ear.heard

    def pushed_of(self, kind: type[Frame]) -> int:
        return sum(isinstance(frame, kind) for _, frame in self.pushed)

    @property
    def records(self) -> list[RequestsFrame]:
        return [frame for _, frame in self.pushed if isinstance(frame, RequestsFrame) and frame.final]

    def first_words(self) -> list[float]:
        """When each answer's first text was pushed."""
        firsts: list[float] = []
        opened = False
        for at, frame in self.pushed:
            if isinstance(frame, LLMFullResponseStartFrame):
                opened = True
            elif isinstance(frame, LLMTextFrame) and opened:
                firsts.append(at)
                opened = False
        return firsts


def budgeted(
    tiers: Sequence[Tier],
    policy: Policy,
    *,
    book: TierStatistics,
    budget: Budget | None = None,
    rules: SpeechRules | None = None,
    **planning: Any,
) -> BudgetedLLMService:
    planner = TurnPlanner([tier.name for tier in tiers], policy, book=book, **planning)
    return BudgetedLLMService(tiers, planner, budget=budget, rules=rules)


def make_call(
    policy: str | Policy,
    large: Server,
    fast: Server | None = None,
    *,
    budget: float = 0.45,
    p95: float = 0.15,
    irreversible: Sequence[str] = (),
    spending: Spending | None = None,
    rules: SpeechRules | None = None,
) -> Call:
    tiers = [Tier("large", chat(large))] + ([Tier("fast", chat(fast))] if fast else [])
    book = TierStatistics({"large": 1.0, "fast": p95})
    made = make_policy(policy, large="large", fast="fast" if fast else None) if isinstance(policy, str) else policy
    service = budgeted(
        tiers, made, book=book, budget=Budget.with_llm(budget), irreversible=irreversible, large="large",
        spending=spending, rules=rules,
    )  # fmt: skip
    call = Call(service, book, tiers)

    @call.service.event_handler("on_before_push_frame")  # type: ignore[untyped-decorator]
    async def stamp(_: BudgetedLLMService, frame: Frame) -> None:
        call.pushed.append((time.monotonic(), frame))

    return call


def ask(text: str = "why is the sky blue", *, speculation: bool = False, tools: Any = None) -> LLMContextFrame:
    messages: Any = [{"role": "user", "content": text}]
    context = LLMContext(messages, tools=tools) if tools else LLMContext(messages)
    return LLMContextFrame(context, speculation=speculation)


def said(frames: Sequence[Frame]) -> str:
    return "".join(frame.text for frame in frames if isinstance(frame, LLMTextFrame))


def holds(frames: Sequence[Frame]) -> list[str]:
    return [frame.text for frame in frames if isinstance(frame, HoldPhraseFrame)]


def large(**options: Any) -> Server:
    return Server("From the large model, the sky scatters blue light. It scatters red light less.", **options)


def fast(**options: Any) -> Server:
    return Server("Air scatters blue light, and red light less. That is all.", **options)


@contextlib.contextmanager
def watched() -> Iterator[LoopWatch]:
    """The watch of the running loop, in a process that collects garbage as a server does: what is loaded is frozen."""
    loop = asyncio.get_running_loop()
    with GarbageCollection(loop) as garbage:
        garbage.freeze()
        watch = LoopWatch.begin(loop)
        assert watch is not None
        watch.call_began()
        yield watch
        watch.call_ended()
        watch.close()
