"""The Python API: an agent is a pipeline, a prompt, tools and the user's own components."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

from pipelines import auto, settings
from pipelines.assemble import Behaviour, build_call
from pipelines.call_log.tracing import tracer
from pipelines.pipecat_services.component_factory import ComponentFactory, Part
from pipelines.shared_engines import Engines
from pipelines.threads import limit_threads
from pipelines.tiers.table import Tiers
from pipelines.versions import simulated, versions
from voice.errors import ConfigurationError
from voice.llm.tools import Tool, describe, is_irreversible
from voice.responder.tools import names_of
from voice.server.admission import Headroom
from voice.server.calls import BuiltCall
from voice.server.transport import Caller

Place = Literal["before_llm", "before_tts"]
"""The places for the user's processors: after the recogniser, or after the language model."""


class Agent:
    """A voice agent of your own.

    Args:
        prompt: the system prompt of its language model; None takes the pipeline's.
        tools: plain functions, sync or async, that it may call: name, annotations and docstring tell the model how.
            With two tiers, only the large one may call a tool marked with `voice.llm.tools.irreversible`.
        pipeline: a name (`voice pipelines` lists them), the path of a .toml file, or "auto".
        overrides: single settings, as `--set` takes them: ["turns.fallback_ms=600"].
        stt, tts: pipecat services that replace the pipeline's recogniser and synthesis.
        large, fast: pipecat LLM services in the two roles of the pipeline's policy, under its budget; a pipeline
            without a language model then follows `single`, or `adaptive` when both are given.
        processors: pipecat processors: a sequence to put between the recogniser and the language model, or a mapping
            of the places "before_llm" and "before_tts" to sequences.

    A call needs fresh components: give a class or a function without arguments, which is called once for each call (and
    first when the agent starts). An instance is accepted too, but serves only one call; further calls are refused.

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
        stt: Part | None = None,
        tts: Part | None = None,
        large: Part | None = None,
        fast: Part | None = None,
        processors: Sequence[Part] | Mapping[Place, Sequence[Part]] = (),
    ) -> None:
        limit_threads()
        for tool in tools:
            describe(tool)
        placed = processors if isinstance(processors, Mapping) else {"before_llm": processors}
        if unknown := placed.keys() - set(get_args(Place)):
            raise ConfigurationError(f"processors: {min(unknown)} is no place; use {' or '.join(get_args(Place))}.")
        factories = {
            place: tuple(ComponentFactory(part, where="processors") for part in placed.get(place, ()))
            for place in get_args(Place)
        }
        self.behaviour = Behaviour(prompt=prompt, tools=tuple(tools), **factories)
        change = partial(_put_in, stt=stt, tts=tts, tiers={"large": large, "fast": fast})
        self.choice = auto.resolve(str(pipeline), overrides, change=change)
        _check_irreversible(tools, self.settings.llm)
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
        # Import its libraries now, not in the first call.
        await asyncio.to_thread(tracer)
        if self.settings.call.transcripts:
            from voice.conversation.transcript import check_folder

            await asyncio.to_thread(check_folder, self.settings.call.transcripts)
        for factory in (*self.behaviour.before_llm, *self.behaviour.before_tts):
            factory.prepare()
        # Without a language model, the responder calls a tool when it hears these words.
        self.engines = await Engines.load(self.settings, names_of(self.behaviour.tools))

    @property
    def headroom(self) -> Headroom:
        """The shared capacity that calls leave free; the agent must have been started."""
        return self._loaded().headroom

    def status(self) -> dict[str, Any]:
        """What /healthz reports: pipeline, components, versions."""
        components = {**self._loaded().components(), **self.behaviour.components()}
        return {
            "pid": os.getpid(),
            "pipeline": self.settings.model_dump(),
            "chosen": self.choice.reasons,
            "components": components,
            "simulated": simulated(components),
            "versions": versions(),
            "sample_rate": self.native_rate,
        }

    def build_call(self, caller: Caller) -> BuiltCall:
        """The pipeline of one call."""
        return build_call(self._loaded(), self.behaviour, caller)

    async def close(self) -> None:
        """Release processes and threads."""
        if self.engines:
            await self.engines.close()

    def _loaded(self) -> Engines:
        if self.engines is None:
            raise RuntimeError("the agent has not been started")
        return self.engines


def _check_irreversible(tools: Sequence[Tool], llm: object) -> None:
    """Refuse an irreversible tool if only a fast tier could call it."""
    found = next((tool.__name__ for tool in tools if is_irreversible(tool)), None)
    if found and isinstance(llm, Tiers) and llm.large is None:
        raise ConfigurationError(
            f"The tool {found} cannot be undone, so only a tier in the large role may call it: add [llm.large], or "
            f"roles.large to [llm]."
        )


def _put_in(table: dict[str, Any], *, stt: Part | None, tts: Part | None, tiers: Mapping[str, Part | None]) -> None:
    """Put components into a pipeline's nested dictionaries; they replace those that were there."""
    for stage, part in (("asr", stt), ("tts", tts)):
        if part is not None:
            table[stage] = {"engine": "pipecat", "service": part}
    given = {role: part for role, part in tiers.items() if part is not None}
    llm = table.get("llm")
    if not given or not isinstance(llm, dict):
        return
    if llm.get("provider") == "responder":
        llm = {"policy": "adaptive" if len(given) > 1 else "single"}
    roles = llm.get("roles", {})
    named = {roles.get(role) or role: {"provider": "pipecat", "service": part} for role, part in given.items()}
    table["llm"] = {**llm, **named}
