"""A client's requests are answered in mid-call, or refused in one sentence."""

import asyncio
import json
import time
from typing import Any

from pipecat.frames.frames import (
    Frame,
    InputTransportMessageFrame,
    InterruptionFrame,
    LLMContextFrame,
    LLMFullResponseEndFrame,
    LLMTextFrame,
    OutputTransportMessageUrgentFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.processors.frameworks.rtvi import RTVIProcessor
from pipecat.workers.runner import WorkerRunner

from tests.voice.llm.answer import budgeted_rig as rig
from voice.frames import RequestsFrame, SilenceAskedFrame
from voice.llm.answer.service import BudgetedLLMService
from voice.llm.policy.make import POLICIES, make_policy
from voice.llm.policy.tier_statistics import TierStatistics
from voice.llm.tiers.swap import TierSwap
from voice.llm.tiers.tier import Tier
from voice.responder.service import ResponderLLMService
from voice.server.rtvi import answer_requests

BOTH = ("large", "fast")


def budgeted() -> BudgetedLLMService:
    """Two tiers, both of which the responder answers."""
    return rig.budgeted(
        [Tier(name, ResponderLLMService()) for name in BOTH],
        make_policy("fallback", large="large", fast="fast", bridge=False),
        book=TierStatistics(dict.fromkeys(BOTH, 0.3)),
    )


class Tap(FrameProcessor):
    """Keeps what passes; `next` waits for another frame of a kind."""

    def __init__(self) -> None:
        super().__init__()
        self.frames: list[Frame] = []
        self._seen: dict[type[Frame], int] = {}
        self._news = asyncio.Event()

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        self.frames.append(frame)
        self._news.set()
        await self.push_frame(frame, direction)

    async def next(self, kind: type[Frame]) -> Any:
        index = self._seen.get(kind, 0)
        self._seen[kind] = index + 1
        async with asyncio.timeout(30):
            while len(found := [frame for frame in self.frames if isinstance(frame, kind)]) <= index:
                self._news.clear()
                await self._news.wait()
        return found[index]


class Call:
    """A pipeline with its RTVI processor, and a client that sends it messages."""

    def __init__(self, answering: BudgetedLLMService | ResponderLLMService, swap: TierSwap | None) -> None:
        self._asked = 0
        self.tap = Tap()
        self.rtvi = RTVIProcessor()
        answer_requests(self.rtvi, swap.carry_out if swap else None)
        self.started = asyncio.Event()
        self.worker = PipelineWorker(
            Pipeline([answering, self.tap]), rtvi_processor=self.rtvi, cancel_on_idle_timeout=False
        )

        @self.worker.event_handler("on_pipeline_started")
        async def on_started(worker: PipelineWorker, frame: Frame) -> None:
            self.started.set()

    async def __aenter__(self) -> "Call":
        runner = WorkerRunner(handle_sigint=False)
        await runner.add_workers(self.worker)
        self._running = asyncio.create_task(runner.run())
        async with asyncio.timeout(30):
            await self.started.wait()
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.worker.cancel()
        await self._running

    async def ask(self, data: Any, *, type: str = "llm") -> tuple[str, dict[str, Any]]:
        """Send a client message; type and data of the answer, as JSON carries them."""
        id = await self.send(data, type=type)
        while True:
            answer = (await self.tap.next(OutputTransportMessageUrgentFrame)).message
            if answer.get("id") == id:
                return answer["type"], json.loads(json.dumps(answer["data"]))

    async def send(self, data: Any, *, type: str) -> str:
        """Send a client message; its id."""
        self._asked += 1
        id = str(self._asked)
        message = {"label": "rtvi-ai", "type": "client-message", "id": id, "data": {"t": type, "d": data}}
        await self.worker.queue_frame(InputTransportMessageFrame(message=message))
        return id

    async def turn(self, context: LLMContext, text: str) -> RequestsFrame:
        """Have a turn answered, its answer kept in the context; the final record of its requests."""
        context.add_message({"role": "user", "content": text})
        before = len(self.tap.frames)
        await self.worker.queue_frame(LLMContextFrame(context))
        await self.tap.next(LLMFullResponseEndFrame)
        said = "".join(f.text for f in self.tap.frames[before:] if isinstance(f, LLMTextFrame))
        context.add_message({"role": "assistant", "content": said})
        return [f for f in self.tap.frames if isinstance(f, RequestsFrame) and f.final][-1]


async def test_a_client_swaps_in_mid_call_and_the_next_turn_is_answered_accordingly() -> None:
    answering = budgeted()
    context = LLMContext()
    async with Call(answering, TierSwap(answering, tiers=BOTH, large="large", fast="fast", bridge=False)) as call:
        record = await call.turn(context, "What is seven times eight?")
        assert (record.answer.policy, record.attempts[0].tier) == ("fallback", "large")
        kind, answer = await call.ask({"tier": "fast"})
        assert (kind, answer["t"]) == ("server-response", "llm")
        assert (answer["d"]["policy"], answer["d"]["tier"]) == ("single", "fast")
        record = await call.turn(context, "What is eight times eight?")
        assert (record.answer.policy, [attempt.tier for attempt in record.attempts]) == ("single", ["fast"])
        assert "64" in context.get_messages()[-1]["content"]
        kind, answer = await call.ask({"policy": "best"})
        assert (kind, answer) == (
            "error-response",
            {
                "error": 'There is no policy "best"; use one of single, hedged, fallback, race, routed, relay, '
                "adaptive, best_of, draft_verify."
            },
        )
        kind, answer = await call.ask(None)
        assert answer["d"] == {
            "policy": "single", "tier": "fast", "tiers": ["large", "fast"], "policies": [*POLICIES], "speed": None,
            "overridden": None,
        }  # fmt: skip


async def test_a_call_without_a_language_model_says_so() -> None:
    async with Call(ResponderLLMService(), None) as call:
        kind, answer = await call.ask({"policy": "race"})
    assert (kind, answer) == (
        "error-response",
        {"error": "This pipeline answers without a language model, so there is none to swap."},
    )


async def test_a_ping_is_answered_with_the_servers_clock_and_another_topic_is_not() -> None:
    async with Call(ResponderLLMService(), None) as call:
        before = time.monotonic()
        kind, answer = await call.ask({"client": 12.5}, type="clock")
        after = time.monotonic()
        assert (kind, answer["t"], answer["d"]["client"]) == ("server-response", "clock", 12.5)
        assert before <= answer["d"]["server"] <= after
        await call.send("1", type="weather")
        await call.ask({}, type="clock")
    answered = [f.message["id"] for f in call.tap.frames if isinstance(f, OutputTransportMessageUrgentFrame)]
    assert answered == ["1", "3"]


async def test_a_client_interrupts_the_agent() -> None:
    async with Call(ResponderLLMService(), None) as call:
        assert await call.ask({}, type="interrupt") == ("server-response", {"t": "interrupt", "d": {}})
        await call.tap.next(SilenceAskedFrame)
        await call.tap.next(InterruptionFrame)
