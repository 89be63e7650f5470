"""What calls leave behind goes without keeping others waiting."""

import asyncio
import gc
import weakref
from collections.abc import Iterator
from typing import Any, cast

import pytest
from fastapi import WebSocket
from pipecat.frames.frames import EndFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.filters.identity_filter import IdentityFilter
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.services.openai.llm import OpenAILLMService

from voice.llm.answer.tier import Tier
from voice.llm.answer.tiered_service import TieredLLMService
from voice.server import app
from voice.server.app import Calls
from voice.server.garbage import take_apart


@pytest.fixture
def uncollected() -> Iterator[None]:
    """No garbage is collected unless the test wants it."""
    gc.disable()
    yield
    gc.enable()


class Socket:
    async def accept(self) -> None:
        """Nobody is there."""


def call_of(*parts: FrameProcessor) -> PipelineWorker:
    return PipelineWorker(Pipeline([IdentityFilter(), Pipeline(list(parts))]), enable_rtvi=False)


@pytest.mark.usefixtures("uncollected")
async def test_the_parts_of_a_call_go_without_the_collector() -> None:
    kept, left = ([IdentityFilter(), IdentityFilter()] for _ in range(2))
    untouched, finished = call_of(*kept), call_of(*left)
    refs = [[weakref.ref(part) for part in parts] for parts in (kept, left)]
    kept.clear()
    left.clear()
    take_apart(finished)
    del untouched, finished
    assert [sum(ref() is not None for ref in some) for some in refs] == [2, 0], "parts refer to one another"


@pytest.mark.usefixtures("uncollected")
async def test_services_that_the_pipeline_does_not_see_go_too() -> None:
    service = OpenAILLMService(api_key="none")
    service.push_frame = service.push_frame  # type: ignore[method-assign]  # a circle, as a tier's tap makes one
    call, left = call_of(TieredLLMService([Tier("large", service)])), weakref.ref(service)
    del service
    take_apart(call)
    del call
    assert left() is None


@pytest.mark.usefixtures("uncollected")
async def test_a_call_that_ended_lets_go_of_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "LET_GO_AFTER", 0.0)
    left: list[weakref.ref[FrameProcessor]] = []

    class Agent:
        native_rate = 24000

        def build_call(self, transport: object, *, sample_rate: int) -> PipelineWorker:
            part = IdentityFilter()
            left.append(weakref.ref(part))
            worker = call_of(part)
            self.ending = asyncio.create_task(worker.queue_frame(EndFrame()))
            return worker

    calls = Calls(cast(Any, Agent()))
    calls.ready = True
    calls.active = {cast(Any, "one"), cast(Any, "another")}
    await calls.take(cast(WebSocket, Socket()), "16000")
    async with asyncio.timeout(10):
        while left[0]() is not None:
            await asyncio.sleep(0.01)


@pytest.mark.usefixtures("uncollected")
async def test_what_is_left_is_collected_when_few_are_in_a_call() -> None:
    class Circle:
        def __init__(self) -> None:
            self.own = self

    calls, left = Calls(cast(Any, None)), weakref.ref(Circle())
    calls.active = {cast(Any, "one"), cast(Any, "another")}
    calls._let_go(call_of())
    assert left() is not None
    calls.active.pop()
    calls._let_go(call_of())
    assert left() is None


@pytest.mark.usefixtures("uncollected")
async def test_calls_without_a_gap_are_collected_now_and_then() -> None:
    calls = Calls(cast(Any, None))
    calls.active = {cast(Any, "one"), cast(Any, "another")}
    kept = weakref.ref(call_of())
    for _ in range(app.MOST_UNCOLLECTED - 1):
        calls._let_go(call_of())
    assert kept() is not None
    calls._let_go(call_of())
    assert kept() is None
