"""The engines of a pipeline, loaded once and shared by every call: turn models, recogniser, voice.

This and `assemble` are the only places that know all parts. Each engine's library is imported when it is chosen.
"""

import asyncio
import logging
import os
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pipecat.services.stt_service import STTService

from pipelines.settings import OpenAITier, Piper, ResponderTier, Settings, Sphinx, Whisper
from voice.errors import ConfigurationError
from voice.tts.voice import Voice, embedded_voice
from voice.turns.models import TurnModels

if TYPE_CHECKING:
    from openai import AsyncOpenAI

    from voice.asr.sphinx_pool import SphinxPool
    from voice.asr.whisper import SharedWhisper

PACKAGES = ("turnaround", "pipecat-ai", "pocketsphinx", "faster-whisper", "ctranslate2", "piper-tts", "onnxruntime")
log = logging.getLogger(__name__)
# Each look-up reads files, which /healthz must not do in the midst of calls; loading fills the cache.
version = cache(metadata.version)


class Recogniser(Protocol):
    """A speech recognition engine: heavy and shared; `service` gives a call its light part."""

    @property
    def name(self) -> str:
        """What recognises, as the report shows it."""

    async def start(self) -> None:
        """Load and warm up.

        Raises:
            ComponentError: the engine or its model is missing or broken.
        """

    def service(self) -> STTService:
        """The pipecat service of one call."""

    async def close(self) -> None:
        """Leave no process or thread behind."""


@dataclass(slots=True)
class Engines:
    """Everything that calls share."""

    settings: Settings
    turns: TurnModels
    recogniser: Recogniser
    voice: Voice
    chat: "AsyncOpenAI | None" = None
    """The client of the language model's server; None for the responder."""

    @classmethod
    async def load(cls, settings: Settings) -> "Engines":
        """Load every engine and put a silent turn through each.

        Raises:
            ConfigurationError: a setting names something that does not exist.
            ComponentError: an engine is missing or broken.
        """
        check_key(settings.llm)
        recogniser = make_recogniser(settings.asr)
        starting = asyncio.create_task(recogniser.start())
        try:
            turns = await asyncio.to_thread(TurnModels, smart_turn=settings.turns.detector == "smart-turn")
            voice = await asyncio.to_thread(lambda: Voice(voice_file(settings.tts)))
            await turns.warm_up()
            await voice.speak("Ready.")
            chat = await load_llm(settings.llm)
            await asyncio.to_thread(versions)
            await starting
        except BaseException:
            starting.cancel()
            await asyncio.gather(starting, return_exceptions=True)
            await recogniser.close()
            raise
        return cls(settings, turns, recogniser, voice, chat)

    def components(self) -> dict[str, str]:
        """What runs in each stage, by name and version."""
        pipecat = f"pipecat {version('pipecat-ai')}"
        detector = "Smart Turn v3.2" if self.settings.turns.detector == "smart-turn" else "silence"
        return {
            "vad": f"Silero ({pipecat})",
            "turns": f"{detector}, fallback {self.settings.turns.fallback_ms} ms",
            "asr": self.recogniser.name,
            "llm": llm_name(self.settings.llm),
            "tts": f"Piper {version('piper-tts')} {self.voice.name}",
        }

    async def close(self) -> None:
        """Stop processes and threads."""
        await self.recogniser.close()
        self.voice.close()
        if self.chat:
            await self.chat.close()


class WhisperRecogniser:
    """faster-whisper as an engine: the weights are found or downloaded, loaded and run once."""

    def __init__(self, asr: Whisper) -> None:
        self._asr = asr
        self._whisper: SharedWhisper | None = None

    @property
    def name(self) -> str:
        """The model's name and where it runs."""
        model = self._whisper.name if self._whisper else self._asr.model
        return f"faster-whisper {version('faster-whisper')} {model} ({self._asr.compute_type}, {self._asr.device})"

    async def start(self) -> None:
        """Find or download the weights and load them."""
        from voice.asr.weights import resolve
        from voice.asr.whisper import SharedWhisper

        weights = await asyncio.to_thread(resolve, self._asr.model)
        self._whisper = await asyncio.to_thread(
            lambda: SharedWhisper.load(
                weights.path, name=weights.name, device=self._asr.device, compute_type=self._asr.compute_type
            )
        )

    def service(self) -> STTService:
        """A call's recogniser on the shared model."""
        from voice.asr.whisper import WhisperSTTService

        assert self._whisper is not None
        return WhisperSTTService(self._whisper)

    async def close(self) -> None:
        """End the model's thread."""
        if self._whisper:
            self._whisper.close()


class SphinxRecogniser:
    """PocketSphinx as an engine: a pool of worker processes, one for each call and a spare one."""

    def __init__(self, asr: Sphinx) -> None:
        self._asr = asr
        self._pool: SphinxPool | None = None

    @property
    def name(self) -> str:
        """The engine and its language model."""
        model = self._pool.language_model.name if self._pool else "en-us"
        return f"PocketSphinx {version('pocketsphinx')} ({model})"

    async def start(self) -> None:
        """Build the language model (once a machine) and load the spare worker."""
        import voice.asr.sphinx  # noqa: F401  (not in the first call)
        from voice.asr.language_model import build_language_model
        from voice.asr.sphinx_pool import SphinxPool
        from voice.llm.responder.sentences import domain_sentences

        weight = self._asr.domain_weight
        model = await asyncio.to_thread(
            lambda: build_language_model(domain_sentences() if weight else [], domain_weight=weight)
        )
        self._pool = SphinxPool(language_model=model)
        await self._pool.start()

    def service(self) -> STTService:
        """A call's recogniser on a worker of its own."""
        from voice.asr.sphinx import SphinxSTTService

        assert self._pool is not None
        return SphinxSTTService(pool=self._pool)

    async def close(self) -> None:
        """Leave no worker behind."""
        if self._pool:
            await self._pool.close()


def make_recogniser(asr: Sphinx | Whisper) -> Recogniser:
    """The engine that a pipeline's `asr` table asks for; not loaded yet."""
    return WhisperRecogniser(asr) if isinstance(asr, Whisper) else SphinxRecogniser(asr)


def voice_file(tts: Piper) -> Path:
    """The .onnx file of a pipeline's voice, downloaded when it is a published name that is not here yet."""
    if tts.voice == "embedded":
        return embedded_voice()
    if tts.voice.endswith(".onnx") or "/" in tts.voice:
        return Path(tts.voice).expanduser()
    from voice.tts.published import published_voice

    return published_voice(tts.voice)


async def load_llm(tier: ResponderTier | OpenAITier) -> "AsyncOpenAI | None":
    """Ready what answers: a client with an open connection, or the responder's grammar.

    A server that does not answer now is logged and may come back: each turn that it fails says so.
    """
    if isinstance(tier, OpenAITier):
        chat = await asyncio.to_thread(_make_client, tier)
        from voice.llm.openai_chat import warm_up

        if problem := await warm_up(chat, model=tier.model, where=where(tier)):
            log.warning("%s", problem)
        return chat
    await asyncio.to_thread(_rehearse_responder)
    return None


def _make_client(tier: OpenAITier) -> "AsyncOpenAI":
    """The shared client; in a thread of its own, because the SDK takes a second to import."""
    from voice.llm.openai_chat import make_client

    # A server on this machine wants no key, but the SDK refuses to start without one.
    key = os.environ.get(tier.api_key_env, "") if tier.api_key_env else "none"
    return make_client(base_url=tier.base_url, api_key=key, silence=tier.silence_ms / 1000)


def _rehearse_responder() -> None:
    """Import and compile what the first call would otherwise wait for on the event loop: about a second."""
    from voice.llm.responder.service import ResponderLLMService
    from voice.llm.responder.understanding import grammar, last_grammar

    # pipecat imports the adapter of a service, and with it a provider's SDK, when the first one is made.
    ResponderLLMService()
    grammar()
    last_grammar()


def where(tier: OpenAITier) -> str:
    """The server of a language model, as people read it."""
    return tier.base_url or "OpenAI"


def llm_name(llm: Any) -> str:
    """What answers, as the report shows it."""
    if isinstance(llm, OpenAITier):
        return f"{llm.model} at {where(llm)}"
    return "responder (no language model)"


def check_key(llm: Any) -> None:
    """Refuse a provider whose key is not set, naming the variable and what works without one."""
    if isinstance(llm, OpenAITier) and llm.api_key_env and not os.environ.get(llm.api_key_env):
        raise ConfigurationError(
            f"{llm.model} needs a key in the environment variable {llm.api_key_env}, which is not set; "
            "the pipelines embedded and local work without one."
        )


def simulated(components: dict[str, str]) -> list[str]:
    """The components that are not real, by their names."""
    marks = ("sim:", "scripted:")
    return [name for name in components.values() if any(mark in name for mark in marks)]


def versions() -> dict[str, str]:
    """Versions of the packages that a measurement depends on."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except metadata.PackageNotFoundError:
            continue
    return found
