"""The Python API: an agent is a pipeline, a prompt and tools; `serve` puts it on a WebSocket."""

import asyncio
import contextlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from loguru import logger
from pipecat.pipeline.worker import PipelineWorker

from pipelines import auto, settings
from pipelines.assemble import Behaviour, build_call
from pipelines.loading import Engines
from pipelines.process import log_pipecat
from pipelines.telemetry import tracing
from pipelines.threads import limit_threads
from pipelines.versions import simulated, versions
from voice.llm.tools import Tool, describe
from voice.server.transport import CallTransport


class Agent:
    """A voice agent of your own.

    Args:
        prompt: the system prompt of its language model; None takes the pipeline's.
        tools: plain functions, sync or async, that it may call: name, annotations and docstring tell the model how.
        pipeline: a name (`voice pipelines` lists them), the path of a .toml file, or "auto".
        overrides: single settings, as `--set` takes them: ["turns.fallback_ms=600"].

    Raises:
        ConfigurationError: no such pipeline, a wrong setting, or a tool without docstring or types.
    """

    def __init__(
        self,
        prompt: str | None = None,
        *,
        tools: Sequence[Tool] = (),
        pipeline: str | Path = "auto",
        overrides: Sequence[str] = (),
    ) -> None:
        limit_threads()
        for tool in tools:
            describe(tool)
        self.behaviour = Behaviour(prompt=prompt, tools=tuple(tools))
        self.choice = auto.resolve(str(pipeline), overrides)
        self.engines: Engines | None = None

    @property
    def settings(self) -> settings.Settings:
        """The pipeline as resolved."""
        return self.choice.settings

    @property
    def native_rate(self) -> int:
        """The sample rate of the voice, in Hz; the agent must have been started."""
        return self._loaded().synthesiser.sample_rate

    async def start(self) -> None:
        """Load and warm up every model.

        Raises:
            ConfigurationError, ComponentError: see `Engines.load`.
        """
        # Its libraries are not for the first call to import.
        await asyncio.to_thread(tracing)
        self.engines = await Engines.load(self.settings)

    def status(self) -> dict[str, Any]:
        """What /healthz tells: pipeline, components, versions."""
        components = self._loaded().components()
        return {
            "pid": os.getpid(),
            "pipeline": self.settings.model_dump(),
            "chosen": self.choice.reasons,
            "components": components,
            "simulated": simulated(components),
            "versions": versions(),
            "sample_rate": self.native_rate,
        }

    def build_call(self, transport: CallTransport, *, sample_rate: int) -> PipelineWorker:
        """The pipeline of one call."""
        return build_call(self._loaded(), self.behaviour, transport, sample_rate=sample_rate)

    async def close(self) -> None:
        """Release processes and threads."""
        if self.engines:
            await self.engines.close()

    def _loaded(self) -> Engines:
        if self.engines is None:
            raise RuntimeError("the agent has not been started")
        return self.engines


def serve(agent: Agent, *, host: str = "127.0.0.1", port: int = 8765) -> None:
    """Serve `agent` on ws://host:port/ws until Ctrl-C, then return. A program that sets up no log sees warnings.

    Raises:
        ConfigurationError: the port is in use, or the pipeline needs something that is not there.
        ComponentError: an engine is missing or broken.
    """
    from pipelines.serving.serve import serve_agent

    _log_warnings()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve_agent(agent, host=host, port=port))


def _log_warnings() -> None:
    """Show warnings in place of what loguru shows by default, pipecat's debug lines; a program's own log stays."""
    try:
        logger.remove(0)
    except ValueError:
        return
    log_pipecat(level="WARNING")
