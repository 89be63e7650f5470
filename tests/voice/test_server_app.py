"""What calls leave behind goes without keeping others waiting."""

import gc
import weakref
from collections.abc import Iterator
from typing import Any, cast

import pytest
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.filters.identity_filter import IdentityFilter
from pipecat.processors.frame_processor import FrameProcessor

from voice.server.app import Calls
from voice.server.garbage import take_apart


@pytest.fixture
def uncollected() -> Iterator[None]:
    """No garbage is collected unless the test wants it."""
    gc.disable()
    yield
    gc.enable()


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
async def test_what_is_left_is_collected_when_nobody_is_in_a_call() -> None:
    class Circle:
        def __init__(self) -> None:
            self.own = self

    calls, left = Calls(cast(Any, None)), weakref.ref(Circle())
    calls.active.add(cast(Any, "another call"))
    calls._let_go(call_of())
    assert left() is not None
    calls.active.clear()
    calls._let_go(call_of())
    assert left() is None
