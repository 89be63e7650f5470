"""Servers of three pipelines on one thread of this process, whose parts can be broken: the sockets are real.

Language models are our simulator's, in a process of its own, each behind a proxy.
"""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, TypeVar

import pytest
from pipecat.frames.frames import Frame, TranscriptionFrame, VADUserStoppedSpeakingFrame
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.settings import STTSettings
from pipecat.services.stt_service import STTService
from pipecat.utils.time import time_now_iso8601

from pipelines import Agent
from pipelines.lab.scripted.model_folder import build
from pipelines.server_process import announced
from pipelines.serving.address import Address
from pipelines.serving.serve import serve_agent
from tests.faults.breaking import DISK, TOOL, Broken, failing_pieces
from tests.faults.matrix import Part
from tests.faults.stream_proxy import StreamProxy
from voice.conversation.transcript import Transcript
from voice.server.admission import Headroom
from voice.server.calls import BuiltCall
from voice.server.transport import Caller

T = TypeVar("T")
RECOGNISERS: dict[Part, str] = {"recogniser process": "sphinx", "Whisper service": "whisper"}
"""The recogniser of the pipeline in which a part is broken; scripted unless it is the broken part."""
PIPELINE = """
description = "breaks"

[asr]
{asr}

[llm]
policy = "fallback"

[llm.large]
provider = "openai"
model = "sim:sonnet"
base_url = "http://127.0.0.1:{large}/with/ttft_ms=100&tokens_per_s=50/v1"
silence_ms = 1500

[llm.fast]
provider = "openai"
model = "sim:groq-fast"
base_url = "http://127.0.0.1:{fast}/with/ttft_ms=350/v1"
silence_ms = 1500

[watchdog]
silence_ms = 2000
give_up_ms = 3000

[call]
transcripts = "{transcripts}"
"""


async def order_status() -> str:
    """Where the order of the caller is."""
    failure = TOOL.failure
    if failure == "dies":
        raise RuntimeError("broken by a test: it dies")
    if failure == "refuses":
        raise ConnectionRefusedError("the shop's server does not answer")
    if failure == "hangs":
        await asyncio.Event().wait()
    if failure == "slow":
        await asyncio.sleep(1.5)
    if failure == "garbage":
        return object()  # type: ignore[return-value]
    return "Your parcel has left the warehouse."


class ScriptedRecogniser(STTService):
    """Hears what the caller is known to say, in no time."""

    def __init__(self, hears: Callable[[], str]) -> None:
        super().__init__(settings=STTSettings(model="scripted:", language=None), ttfs_p99_latency=0.4)
        self._hears = hears

    async def run_stt(self, audio: bytes) -> AsyncGenerator[Frame | None, None]:
        yield None

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, VADUserStoppedSpeakingFrame):
            await self.push_frame(TranscriptionFrame(self._hears(), "", time_now_iso8601(), finalized=True))


class BreakableAgent(Agent):
    """Keeps the parts of its latest call."""

    parts: list[FrameProcessor]
    worker: PipelineWorker | None = None
    hears: Callable[[], str] | None = None

    def build_call(self, caller: Caller) -> BuiltCall:
        assert self.engines is not None
        if self.hears is not None:
            hears = self.hears
            self.engines.recogniser.service = lambda **_: ScriptedRecogniser(hears)  # type: ignore[method-assign]
        call = super().build_call(caller)
        self.worker, self.parts = call.worker, _parts(call.worker.pipeline)
        return call


def _parts(whole: FrameProcessor) -> list[FrameProcessor]:
    return [part for one in whole.processors for part in (one, *_parts(one))]


class Served:
    """All of it; `open` starts it, `server` a pipeline.

    Args:
        folder: for files.
        words: what the scripted recogniser hears now.
        whisper: what the scripted Whisper model always hears.
    """

    def __init__(self, folder: Path, words: Callable[[], str], *, whisper: str) -> None:
        self.folder, self._words, self._whisper = folder, words, whisper
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="server")
        self._stack = AsyncExitStack()
        self._servers: dict[str, tuple[BreakableAgent, StreamProxy]] = {}
        self._serving: list[asyncio.Task[None]] = []
        self._patches = pytest.MonkeyPatch()

    def run(self, work: Coroutine[Any, Any, T], *, within: float = 90.0) -> T:
        """Run something on the servers' loop and wait for it."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(within)

    def open(self) -> None:
        # A busy machine is no reason to take no call here.
        self._patches.setattr(Headroom, "refusal", lambda *_, **__: None)
        write = Transcript._write

        def failing(transcript: Transcript, text: str) -> None:
            DISK.write()
            write(transcript, text)

        self._patches.setattr(Transcript, "_write", failing)
        self._thread.start()
        self.run(self._open())

    async def _open(self) -> None:
        url, _ = await self._stack.enter_async_context(announced("simulate"))
        port = int(url.split(":")[2].split("/")[0])
        self.large, self.fast = StreamProxy(port), StreamProxy(port)
        await self.large.open()
        await self.fast.open()

    def close(self) -> None:
        self.run(self._close())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(10)
        self._patches.undo()

    async def _close(self) -> None:
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)
        for _, proxy in self._servers.values():
            proxy.close()
        self.large.close()
        self.fast.close()
        await self._stack.aclose()

    def server(self, part: Part) -> tuple[BreakableAgent, StreamProxy]:
        """The server in which a part is broken, and the proxy before it."""
        recogniser = RECOGNISERS.get(part, "scripted")
        if recogniser not in self._servers:
            self._servers[recogniser] = self.run(self._serve(recogniser))
        return self._servers[recogniser]

    async def _serve(self, recogniser: str) -> tuple[BreakableAgent, StreamProxy]:
        asr = 'engine = "sphinx"'
        if recogniser == "whisper":
            model = await asyncio.to_thread(build, self.folder / "whisper-model", text=self._whisper)
            asr = f'engine = "whisper"\nmodel = "{model}"\ncontext = "full"'
        file = self.folder / f"{recogniser}.toml"
        transcripts = self.folder / "transcripts"
        file.write_text(PIPELINE.format(asr=asr, large=self.large.port, fast=self.fast.port, transcripts=transcripts))
        agent = await asyncio.to_thread(BreakableAgent, pipeline=file, tools=[order_status])
        agent.hears = self._words if recogniser == "scripted" else None
        listening: asyncio.Future[str] = self.loop.create_future()
        serving = asyncio.create_task(serve_agent(agent, Address(port=0), announce=listening.set_result))
        self._serving.append(serving)
        await asyncio.wait({serving, listening}, return_when=asyncio.FIRST_COMPLETED)
        if serving.done():
            serving.result()
        assert agent.engines is not None
        failing_pieces(agent.engines.synthesiser.voice)  # type: ignore[attr-defined]
        proxy = StreamProxy(int(listening.result().rsplit(":", 1)[1].removesuffix("/ws")))
        await proxy.open()
        return agent, proxy

    @property
    def tasks(self) -> int:
        """How many tasks there are, without those of the proxies: connections to models are kept open."""
        kept = [task.get_coro().__qualname__ for task in asyncio.all_tasks(self.loop)]  # type: ignore[union-attr]
        return sum("StreamProxy" not in name for name in kept)

    @property
    def running(self) -> list[str]:
        """The servers that have been started, by their recogniser."""
        return list(self._servers)

    def broken(self, agent: BreakableAgent, client: StreamProxy) -> Broken:
        """What can be broken of the agent's latest call."""
        assert agent.engines is not None
        return Broken(agent.engines, agent.parts, client, self.large, self.fast)
