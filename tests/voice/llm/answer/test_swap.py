"""Policies and tiers are changed while a call goes on, and what cannot be is refused in one sentence."""

import asyncio
import re
from typing import Any

import pytest
from pipecat.frames.frames import (
    Frame,
    FunctionCallResultProperties,
    InputTransportMessageFrame,
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
from pipecat.services.llm_service import FunctionCallParams
from pipecat.workers.runner import WorkerRunner

from voice.errors import ConfigurationError
from voice.llm.answer.answer_frames import AttemptsFrame
from voice.llm.answer.service import BudgetedLLMService
from voice.llm.answer.swap import Swap, answer_swaps, swap_tool
from voice.llm.answer.tier import Tier
from voice.llm.policy import POLICIES, make_policy
from voice.llm.policy.tier_stats import TierBook
from voice.llm.tools import describe
from voice.responder.service import ResponderLLMService

BOTH = ("large", "fast")


def service(*tiers: str, policy: str = "adaptive", bridge: bool = False) -> BudgetedLLMService:
    """The budgeted service over a responder in each tier."""
    chosen = make_policy(
        policy, large="large" if "large" in tiers else None, fast="fast" if "fast" in tiers else None, bridge=bridge
    )
    return BudgetedLLMService(
        [Tier(name, ResponderLLMService()) for name in tiers], chosen, book=TierBook(dict.fromkeys(tiers, 0.3))
    )


def swap_of(*tiers: str, policy: str = "adaptive", bridge: bool = False) -> Swap:
    return Swap(service(*tiers, policy=policy, bridge=bridge), tiers=tiers, bridge=bridge)


@pytest.mark.parametrize(
    ("request_", "policy", "tier"),
    [
        ({}, "adaptive", None),
        ({"policy": "race"}, "race", None),
        ({"policy": "fallback"}, "fallback", None),
        ({"policy": "single"}, "single", "large"),
        ({"policy": "hedged"}, "hedged", "large"),
        ({"tier": "fast"}, "single", "fast"),
        ({"tier": "large"}, "single", "large"),
    ],
)
def test_a_request_is_carried_out_and_answered_with_what_is_in_force(
    request_: dict[str, str], policy: str, tier: str | None
) -> None:
    swap = swap_of(*BOTH)
    state = swap.carry_out(request_)
    assert state == {"policy": policy, "tier": tier, "tiers": ["large", "fast"], "policies": list(POLICIES)}
    assert swap.carry_out({}) == state


def test_a_call_with_one_tier_names_the_policies_it_can_follow() -> None:
    assert swap_of("fast", policy="single").state == {
        "policy": "single",
        "tier": "fast",
        "tiers": ["fast"],
        "policies": ["single", "hedged"],
    }


@pytest.mark.parametrize(
    ("request_", "sentence"),
    [
        ({"policy": "best"}, 'There is no policy "best"; use one of single, hedged, fallback, race, adaptive.'),
        ({"tier": "huge"}, 'There is no tier "huge" in this call; there is large and fast.'),
        ({"tier": "fast", "policy": "race"}, "A swap names a policy or a tier, not both"),
        ({"policy": 3}, "The policy of a swap must be its name, not int"),
        ({"tier": None}, "The tier of a swap must be its name, not NoneType"),
        ({"model": "gpt"}, 'A swap has no "model"'),
        ({3: "x"}, 'A swap has no "3"'),
        (["race"], "A swap must be a JSON object, not list"),
        ("race", "A swap must be a JSON object, not str"),
    ],
)
def test_a_wrong_request_is_refused_in_one_sentence_and_changes_nothing(request_: object, sentence: str) -> None:
    swap = swap_of(*BOTH)
    with pytest.raises(ConfigurationError, match="^" + re.escape(sentence)) as refused:
        swap.carry_out(request_)
    assert len(re.findall(r"[.!?](\s|$)", str(refused.value))) == 1
    assert swap.state["policy"] == "adaptive"


@pytest.mark.parametrize("policy", ["fallback", "race", "adaptive"])
def test_a_policy_of_two_tiers_is_refused_where_there_is_one(policy: str) -> None:
    swap = swap_of("large", policy="single")
    with pytest.raises(ConfigurationError, match=f"The policy {policy} needs two tiers"):
        swap.carry_out({"policy": policy})
    assert swap.state["policy"] == "single"


@pytest.mark.parametrize("bridge", [True, False])
@pytest.mark.parametrize("request_", [{"policy": "race"}, {"tier": "fast"}])
def test_whether_phrases_bridge_stays_as_it_was(request_: dict[str, str], bridge: bool) -> None:
    answering = service(*BOTH, bridge=bridge)
    Swap(answering, tiers=BOTH, bridge=bridge).carry_out(request_)
    assert answering.policy.plan(TierBook(dict.fromkeys(BOTH, 0.3))).bridge is bridge


def test_a_model_is_offered_the_tool_with_its_three_efforts() -> None:
    schema = describe(swap_tool(swap_of(*BOTH)))
    assert schema.name == "change_thinking"
    assert schema.properties["effort"]["enum"] == ["think_harder", "be_quick", "usual"]
    assert schema.required == ["effort"]
    assert "unless the user asks" in schema.description


async def test_the_tool_changes_the_tier_of_its_own_call_and_back() -> None:
    mine, other = swap_of(*BOTH, policy="race"), swap_of(*BOTH, policy="race")
    handler = describe(swap_tool(mine)).handler
    assert handler is not None
    told = []

    async def note(result: Any, *, properties: FunctionCallResultProperties | None = None) -> None:
        told.append(result)

    async def call(effort: str) -> dict[str, Any]:
        await handler(
            FunctionCallParams(
                function_name="change_thinking",
                tool_call_id="1",
                arguments={"effort": effort},
                llm=ResponderLLMService(),
                pipeline_worker=None,
                context=LLMContext(),
                result_callback=note,
            )
        )
        return mine.state

    assert (await call("be_quick"))["tier"] == "fast"
    assert (await call("think_harder"))["tier"] == "large"
    assert (await call("usual"))["policy"] == "race"
    assert (await call("harder"))["policy"] == "race"
    assert other.state["policy"] == "race"
    assert [text[:4] for text in told] == ["Done", "Done", "Done", "Ther"]


def test_there_is_no_tool_where_there_is_one_tier() -> None:
    with pytest.raises(ConfigurationError, match="only the tier large"):
        swap_tool(swap_of("large", policy="single"))


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

    def __init__(self, answering: BudgetedLLMService | ResponderLLMService, swap: Swap | None) -> None:
        self._asked = 0
        self.tap = Tap()
        self.rtvi = RTVIProcessor()
        answer_swaps(self.rtvi, swap)
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
        """Send a client message; type and data of what comes back."""
        self._asked += 1
        message = {"label": "rtvi-ai", "type": "client-message", "id": str(self._asked), "data": {"t": type, "d": data}}
        await self.worker.queue_frame(InputTransportMessageFrame(message=message))
        while True:
            answer = (await self.tap.next(OutputTransportMessageUrgentFrame)).message
            if answer.get("id") == message["id"]:
                return answer["type"], answer["data"]

    async def turn(self, context: LLMContext, text: str) -> AttemptsFrame:
        """Have a turn answered, its answer kept in the context; the final record of its requests."""
        context.add_message({"role": "user", "content": text})
        before = len(self.tap.frames)
        await self.worker.queue_frame(LLMContextFrame(context))
        await self.tap.next(LLMFullResponseEndFrame)
        said = "".join(f.text for f in self.tap.frames[before:] if isinstance(f, LLMTextFrame))
        context.add_message({"role": "assistant", "content": said})
        return [f for f in self.tap.frames if isinstance(f, AttemptsFrame) and f.final][-1]


async def test_a_client_swaps_in_mid_call_and_the_next_turn_is_answered_accordingly() -> None:
    answering = service(*BOTH, policy="fallback")
    context = LLMContext()
    async with Call(answering, Swap(answering, tiers=BOTH, bridge=False)) as call:
        record = await call.turn(context, "What is seven times eight?")
        assert (record.policy, record.attempts[0]["tier"]) == ("fallback", "large")
        kind, answer = await call.ask({"tier": "fast"})
        assert (kind, answer["t"]) == ("server-response", "llm")
        assert (answer["d"]["policy"], answer["d"]["tier"]) == ("single", "fast")
        record = await call.turn(context, "What is eight times eight?")
        assert (record.policy, [attempt["tier"] for attempt in record.attempts]) == ("single", ["fast"])
        assert "64" in context.get_messages()[-1]["content"]
        kind, answer = await call.ask({"policy": "best"})
        assert (kind, answer) == (
            "error-response",
            {"error": 'There is no policy "best"; use one of single, hedged, fallback, race, adaptive.'},
        )
        kind, answer = await call.ask(None)
        assert answer["d"] == {"policy": "single", "tier": "fast", "tiers": ["large", "fast"], "policies": [*POLICIES]}


async def test_a_call_without_a_language_model_says_so() -> None:
    async with Call(ResponderLLMService(), None) as call:
        kind, answer = await call.ask({"policy": "race"})
    assert (kind, answer) == (
        "error-response",
        {"error": "This pipeline answers without a language model, so there is no other one to take."},
    )
