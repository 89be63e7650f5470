"""Checks that what a Chat Completions server streams is a chat completion. Does not use pipecat."""

import asyncio
import itertools
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from typing import cast

from openai import APIConnectionError, AsyncStream
from openai.types.chat import ChatCompletionChunk

EVENTS = "text/event-stream"
OTHER_JSON = "answered with JSON of another kind"
USAGE_WITHIN = 0.2
"""Seconds after the last word in which a server may still report the answer's token usage."""
CHUNKS_AT_ONCE = 8
"""Chunks that arrived together and are passed on before others may run; a whole answer would hold the event loop for
10 ms."""

log = logging.getLogger(__name__)


def queue_time(chunk: ChatCompletionChunk) -> float | None:
    """Seconds that the request waited in the provider's queue, as Cerebras and Groq report it; None if it is not said.

    Cerebras: `time_info.queue_time`. Groq: `x_groq.usage.queue_time`, or `usage.queue_time`.
    """
    extra = chunk.model_extra or {}
    places = (
        extra.get("time_info"),
        (extra.get("x_groq") or {}).get("usage"),
        getattr(chunk.usage, "model_extra", None),
    )
    times = (place.get("queue_time") for place in places if isinstance(place, Mapping))
    return next((float(time) for time in times if isinstance(time, int | float) and not isinstance(time, bool)), None)


def finish_reason(chunk: ChatCompletionChunk) -> str | None:
    """Why the answer ends with this chunk; None where it goes on."""
    reasons = (getattr(choice, "finish_reason", None) for choice in chunk.choices or ())
    return next((reason for reason in reasons if isinstance(reason, str)), None)


class NotACompletionError(ValueError):
    """A server reported success but sent something else; the message continues "<model> at <where>"."""


async def checked(stream: AsyncStream[ChatCompletionChunk]) -> AsyncIterator[ChatCompletionChunk]:
    """The chunks of an answer. A finished answer is complete even if its connection breaks afterwards.

    Raises:
        NotACompletionError: the server sent something that is not a chat completion.
    """
    kind = stream.response.headers.get("content-type", "").partition(";")[0].strip().lower()
    instead: str | None = f"answered with {'an empty stream' if kind == EVENTS else kind or 'nothing'}"
    finished = False
    try:
        if kind == "text/html":
            raise NotACompletionError("answered with a web page (text/html)")
        # Without this, a generator that is not exhausted is only closed when it is garbage-collected.
        async with aclosing(cast(AsyncGenerator[ChatCompletionChunk], aiter(stream))) as chunks:
            for number in itertools.count(1):
                try:
                    async with asyncio.timeout(USAGE_WITHIN if finished else None):
                        chunk = await anext(chunks)
                except StopAsyncIteration:
                    break
                except (APIConnectionError, TimeoutError, ValueError) as error:
                    if finished:
                        log.info("a complete answer did not end properly (%s)", type(error).__name__)
                        break
                    if isinstance(error, ValueError):
                        raise NotACompletionError("answered with something that is no JSON") from error
                    raise
                # The SDK makes a chunk from any JSON object.
                if not isinstance(chunk, ChatCompletionChunk) or not isinstance(chunk.choices, list | None):
                    raise NotACompletionError(OTHER_JSON)
                instead = OTHER_JSON if chunk.choices is None and instead is not None else None
                finished |= any(choice.finish_reason is not None for choice in chunk.choices or ())
                yield chunk
                if number % CHUNKS_AT_ONCE == 0:
                    await asyncio.sleep(0)
        if instead is not None:
            raise NotACompletionError(instead)
    finally:
        await stream.close()
