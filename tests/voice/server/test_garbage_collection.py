"""What a server changes of Python's collector ends with its context, and finished calls leave little to collect."""

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

from tests.voice.llm.answer import budgeted_rig as rig
from voice.llm.policy.policies import Single
from voice.llm.policy.tier_statistics import TierStatistics
from voice.llm.tiers.tier import Tier
from voice.server import calls as calls_module
from voice.server.calls import BuiltCall, Calls
from voice.server.garbage_collection import MOST_UNCOLLECTED, RARELY, GarbageCollection, empty, importing
from voice.server.transport import Caller, CallTransport


@pytest.fixture
def uncollected() -> Iterator[None]:
    """No garbage is collected unless the test collects it."""
    gc.disable()
    yield
    gc.enable()


class Socket:
    client = None

    async def accept(self) -> None:
        """Nobody is there."""


def call_of(*parts: FrameProcessor) -> PipelineWorker:
    return PipelineWorker(Pipeline([IdentityFilter(), Pipeline(list(parts))]), enable_rtvi=False)


@pytest.mark.usefixtures("uncollected")
async def test_an_emptied_call_needs_no_collector() -> None:
    kept, left = ([IdentityFilter(), IdentityFilter()] for _ in range(2))
    untouched, finished = call_of(*kept), call_of(*left)
    refs = [[weakref.ref(part) for part in parts] for parts in (kept, left)]
    kept.clear()
    left.clear()
    empty(finished)
    del untouched, finished
    assert [sum(ref() is not None for ref in some) for some in refs] == [2, 0], "parts refer to one another"


@pytest.mark.usefixtures("uncollected")
async def test_services_that_the_pipeline_does_not_see_are_emptied_too() -> None:
    service = OpenAILLMService(api_key="none")
    service.push_frame = service.push_frame  # type: ignore[method-assign]  # a circle, as a tier's tap makes one
    book = TierStatistics({"large": 1.0})
    call = call_of(rig.budgeted([Tier("large", service)], Single(tier="large"), book=book))
    left = weakref.ref(service)
    del service
    empty(call)
    del call
    assert left() is None


@pytest.mark.usefixtures("uncollected")
async def test_a_call_that_ended_leaves_none_of_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls_module, "RELEASE_AFTER", 0.0)
    left: list[weakref.ref[FrameProcessor]] = []

    class Agent:
        native_rate = 24000

        def build_call(self, caller: Caller) -> BuiltCall:
            part = IdentityFilter()
            left.append(weakref.ref(part))
            worker = call_of(part)
            self.ending = asyncio.create_task(worker.queue_frame(EndFrame()))
            return BuiltCall(worker, CallTransport(caller))

    with GarbageCollection(asyncio.get_running_loop()) as garbage:
        calls = Calls(cast(Any, Agent()), garbage)
        calls.ready = True
        calls.active = {cast(Any, "one"): 0.0, cast(Any, "another"): 0.0}
        await calls.take(cast(WebSocket, Socket()), "16000")
        async with asyncio.timeout(10):
            while left[0]() is not None:
                await asyncio.sleep(0.01)


@pytest.mark.usefixtures("uncollected")
async def test_remains_are_collected_when_few_are_in_a_call() -> None:
    class Circle:
        def __init__(self) -> None:
            self.own = self

    with GarbageCollection(asyncio.get_running_loop()) as garbage:
        left = weakref.ref(Circle())
        garbage.call_ended(call_of(), others=2)
        assert left() is not None
        garbage.call_ended(call_of(), others=1)
        assert left() is None


@pytest.mark.usefixtures("uncollected")
async def test_remains_of_calls_without_a_gap_are_collected_now_and_then() -> None:
    with GarbageCollection(asyncio.get_running_loop()) as garbage:
        kept = weakref.ref(call_of())
        for _ in range(MOST_UNCOLLECTED - 1):
            garbage.call_ended(call_of(), others=2)
        assert kept() is not None
        garbage.call_ended(call_of(), others=2)
        assert kept() is None


async def test_what_is_changed_ends_with_its_context() -> None:
    known = gc.get_threshold()
    with GarbageCollection(asyncio.get_running_loop()) as garbage:
        assert gc.get_threshold() == known, "the models are still loading"
        garbage.freeze()
        assert gc.get_freeze_count() > 0
        assert gc.get_threshold()[2] == RARELY
    assert gc.get_threshold() == known
    assert gc.get_freeze_count() == 0


def test_what_is_imported_is_frozen() -> None:
    before = gc.get_freeze_count()
    try:
        with importing():
            assert not gc.isenabled()
            imported = [[] for _ in range(10)]  # type: ignore[var-annotated]
        assert gc.isenabled()
        assert gc.get_freeze_count() >= before + len(imported)
    finally:
        gc.unfreeze()
