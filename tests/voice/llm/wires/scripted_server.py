"""A server on loopback that sends what it is told to, byte for byte, and what a tier makes of it."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.services.llm_service import LLMService

from pipelines.lab.simulator.simulator import Simulator
from tests.voice.llm.wires.responses.rig import in_call
from voice.llm.answer.llm_request import LLMRequest
from voice.llm.tools import describe

MODEL = "scripted:odd"


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What a tier is to make of an odd stream.

    Parameters:
        said: the words.
        calls: the tool calls, name and arguments.
        failed: a part of the reason of a failure; None for none.
        completion: the tokens of the answer on record, if they are compared; negative for an estimate.
    """

    said: str = ""
    calls: Sequence[tuple[str, dict[str, Any]]] = ()
    failed: str | None = None
    completion: int | None = None


def tools() -> ToolsSchema:
    async def weather(city: str) -> str:
        """Look up the weather of a city."""
        return city

    async def opening_hours() -> str:
        """Look up when the shop is open."""
        return "nine to five"

    return ToolsSchema(standard_tools=[describe(weather), describe(opening_hours)])


@dataclass
class ScriptedServer:
    """Answers every HTTP request with these pieces; None ends the connection without the body's end."""

    pieces: Sequence[bytes | float | None]
    head: str = "Content-Type: text/event-stream"
    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)

    open: set[asyncio.Task[None]] = field(default_factory=set)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.open.add(task)
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                sizes = [line[15:] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")]
                body = await reader.readexactly(int(sizes[0])) if sizes else b""
                if not body:
                    writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{"data":[]}')
                    continue
                self.asked.append(json.loads(body))
                writer.write(f"HTTP/1.1 200 OK\r\n{self.head}\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
                for piece in self.pieces:
                    if piece is None:
                        return
                    if isinstance(piece, float):
                        await writer.drain()
                        await asyncio.sleep(piece)
                    elif piece:
                        writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                writer.write(b"0\r\n\r\n")
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@contextlib.asynccontextmanager
async def serving(pieces: Sequence[bytes | float | None], head: str | None = None) -> AsyncIterator[ScriptedServer]:
    server = ScriptedServer(pieces, **({} if head is None else {"head": head}))
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    try:
        yield server
    finally:
        listening.close()
        for task in server.open:
            task.cancel()
        await asyncio.gather(*server.open, return_exceptions=True)


async def answered(service: LLMService[Any]) -> LLMRequest:
    """A tier's request to the service, whose conversation offers two tools."""
    async with in_call(service, Simulator(seed=1)) as call:
        call.tools = tools()
        return await call.ask("what is the weather")


def check(attempt: LLMRequest, expected: Expected) -> None:
    """Compare what became of a request: words, calls with ids of their own, and the failure."""
    calls = [(call.function_name, call.arguments) for call in attempt.calls]
    assert " ".join(attempt.text.split()) == expected.said
    assert calls == list(expected.calls)
    ids = [call.tool_call_id for call in attempt.calls]
    assert all(isinstance(each, str) and each for each in ids)
    assert len(set(ids)) == len(ids)
    if expected.failed is None:
        assert attempt.state.outcome == "complete", attempt.state.failed
    else:
        assert attempt.state.outcome == "failed"
        assert expected.failed in (attempt.state.failed or "")
    if expected.completion is not None:
        tokens = attempt.record(response=0).tokens
        assert (tokens.completion, tokens.estimated) == (abs(expected.completion), expected.completion < 0)
