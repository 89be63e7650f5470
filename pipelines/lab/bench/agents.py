"""Starts the agents of a benchmark: servers on loopback with the same recogniser, language model and voice."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil

from pipelines.engines.scripted import whisper_engine
from pipelines.lab.bench.bots import BOTS
from pipelines.lab.bench.peer import Parts
from pipelines.lab.bench.variants import FAST_URL, Variant
from pipelines.server_process import Server, listening, own_server
from pipelines.versions import simulated, version, versions
from voice.asr.whisper.weights import from_folder
from voice.errors import ComponentError


@asynccontextmanager
async def serving(
    variant: Variant, parts: Parts, *, fast_url: str, environment: Mapping[str, str], log: Path
) -> AsyncIterator[Server]:
    """Run a variant's server, with freshly loaded models, while the context lasts.

    Args:
        variant: the agent.
        parts: its recogniser, language model and voice.
        fast_url: base URL of a fast model of the same name.
        environment: an untuned peer's environment variables, without those that tune our own processes.
        log: the file to which a peer's standard error is appended.

    Raises:
        VoiceError: the server cannot start.
    """
    if variant.bot is None:
        settings = [setting.replace(FAST_URL, fast_url) for setting in variant.settings]
        async with own_server("local", [*overrides(parts), *settings]) as server:
            yield server
        return
    if variant.fast:
        parts = replace(parts, llm_url=fast_url)
    options = ("--whisper", str(parts.whisper), "--voice", str(parts.voice), "--prompt", parts.prompt)
    model = ("--llm-url", parts.llm_url, "--llm-model", parts.llm_model)
    own = None if BOTS[variant.bot].tuned else environment
    with log.open("ab") as file:
        peer = listening("pipelines.lab.bench.peer", variant.bot, *options, *model, environment=own, log=file)
        async with peer as (url, process):
            if url is None:
                raise ComponentError(f"{variant.name} ended before it took calls; {log} says why.")
            yield Server(url, status(variant, parts), psutil.Process(process.pid))


def overrides(parts: Parts) -> list[str]:
    """The settings that give our local pipeline the same parts as the other agents.

    Filler and hold phrases are off: other agents have none, and a phrase would be heard before the answer. So are
    answers in parts.
    """
    return [
        f"asr.engine={whisper_engine(parts.whisper)}",
        f"asr.model={parts.whisper}",
        f"tts.voice={parts.voice}",
        "llm.bridge=false",
        "call.part_ms=0",
        f"llm.prompt={parts.prompt}",
        f"llm.large.base_url={parts.llm_url}",
        f"llm.large.model={parts.llm_model}",
    ]


def status(variant: Variant, parts: Parts) -> dict[str, Any]:
    """A peer's report in the form of our servers' /healthz."""
    assert variant.bot is not None
    package = BOTS[variant.bot].package
    components = {
        "agent": f"{variant.bot} ({package} {version(package)})",
        "asr": f"{from_folder(parts.whisper).name}, faster-whisper {version('faster-whisper')}",
        "llm": f"{parts.llm_model} at {parts.llm_url}",
        "tts": f"Piper {version('piper-tts')} {parts.voice.stem}",
    }
    return {
        "pipeline": {"name": variant.name},
        "components": components,
        "simulated": simulated(components),
        "versions": versions(),
    }
