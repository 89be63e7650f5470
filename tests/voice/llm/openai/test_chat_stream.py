import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any, cast

from openai import AsyncStream
from openai.types.chat import ChatCompletionChunk

from voice.llm.openai.chat import EMPTY_CHUNK
from voice.llm.openai.chat_stream import CHUNKS_AT_ONCE, EVENTS, checked


class Burst:
    """An answer whose chunks have all come already."""

    response = SimpleNamespace(headers={"content-type": EVENTS})

    def __init__(self, size: int) -> None:
        self._size = size

    async def __aiter__(self) -> AsyncIterator[ChatCompletionChunk]:
        for _ in range(self._size):
            yield ChatCompletionChunk.construct(**EMPTY_CHUNK)

    async def close(self) -> None:
        """There is no connection."""


async def test_a_burst_of_chunks_leaves_the_event_loop_to_others_in_between() -> None:
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(other())
    stream = cast(AsyncStream[ChatCompletionChunk], cast(Any, Burst(10 * CHUNKS_AT_ONCE)))
    assert len([chunk async for chunk in checked(stream)]) == 10 * CHUNKS_AT_ONCE
    task.cancel()
    assert turns >= 10


def test_the_specimen_of_a_chunk_holds_every_model_inside_it() -> None:
    chunk = ChatCompletionChunk.construct(**EMPTY_CHUNK)
    (choice,) = chunk.choices
    assert choice.delta.tool_calls is not None
    assert choice.delta.tool_calls[0].function is not None
    assert chunk.usage is not None
    assert chunk.usage.prompt_tokens_details is not None
    assert chunk.usage.completion_tokens_details is not None
