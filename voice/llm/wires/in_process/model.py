"""A local model in memory, shared by all calls, and the threads that run it."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import Self

from voice.inference_queue import InferenceJob, InferenceQueue, IsWanted
from voice.llm.wires.in_process.engine import CONTEXT_TOKENS, Engine, Message, Usage
from voice.llm.wires.in_process.gguf_file import GgufFile


class OwnModel:
    """A loaded model and its queue: runs one request at a time, in order of arrival, and drops withdrawn ones.

    Args:
        name: in reports; begins with "scripted:" if its weights are made up.
    """

    def __init__(self, engine: Engine, *, name: str) -> None:
        self.name = name
        self._engine = engine
        self._queue = InferenceQueue("own-model", threads=1)

    @classmethod
    def load(cls, file: GgufFile, *, threads: int = 1, context_tokens: int = CONTEXT_TOKENS) -> Self:
        """Load a GGUF file; blocks for about half a second.

        Args:
            file: see `read_gguf`.
            threads: threads of one request.
            context_tokens: the most tokens of the conversation that a request has.

        Raises:
            ComponentError: it does not fit into memory, is damaged, or llama.cpp is not installed.
        """
        return cls(Engine(file, threads=threads, context_tokens=context_tokens), name=file.name)

    def read(self, prompt: str, said: Sequence[Message] = ()) -> InferenceJob[Usage]:
        """Process a system prompt and a call's conversation so far, so that the next request can reuse the state.

        Returns:
            Its usage; raises `GenerationError` if the model does not run.
        """

        def short(is_wanted: IsWanted) -> Usage:
            messages = said or [Message("user", "Hello.")]
            return self._engine.generate(prompt, messages, longest=1, is_wanted=is_wanted, on_text=lambda _text: None)

        return self._queue.submit(short)

    async def stream(
        self, prompt: str, messages: Sequence[Message], *, longest: int
    ) -> AsyncGenerator[str | Usage, None]:
        """The answer as it is generated, and finally its usage; closing the iterator withdraws the request.

        Args:
            prompt: the system prompt.
            longest: the most tokens of the answer.

        Raises:
            GenerationError: the engine refused or broke.
        """
        loop = asyncio.get_running_loop()
        pieces: asyncio.Queue[str | None] = asyncio.Queue()

        def decode(is_wanted: IsWanted) -> Usage:
            return self._engine.generate(
                prompt,
                messages,
                longest=longest,
                is_wanted=lambda: is_wanted() and not loop.is_closed(),
                on_text=lambda text: _give(loop, pieces, text),
            )

        done = asyncio.wrap_future(self._queue.submit(decode))
        done.add_done_callback(lambda _done: pieces.put_nowait(None))
        try:
            while (piece := await pieces.get()) is not None:
                yield piece
            yield await done
        finally:
            done.cancel()

    def close(self) -> None:
        """Withdraw every request, wait until the running one has noticed, and free the model; blocks."""
        self._queue.close(wait=True)
        self._engine.close()


def _give(loop: asyncio.AbstractEventLoop, pieces: "asyncio.Queue[str | None]", text: str) -> None:
    loop.call_soon_threadsafe(pieces.put_nowait, text)
