"""The engines of a pipeline, loaded once and shared by every call: turn models, recogniser, voice.

This and `assemble` are the only places that know all parts. Each engine's library is imported when it is chosen.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pipecat.services.stt_service import STTService

from pipelines.language_models import LanguageModels, make_language_models
from pipelines.settings import Piper, Settings, Sphinx, Turns, Whisper
from voice.tts.piper.voice import Voice, embedded_voice
from voice.turns.models import TurnModels
from voice.turns.sentence_end import SentenceEnds
from voice.turns.speculation import Waiting

if TYPE_CHECKING:
    from voice.asr.sphinx.pool import SphinxPool
    from voice.asr.whisper.model import SharedWhisper

PACKAGES = ("turnaround", "pipecat-ai", "pocketsphinx", "faster-whisper", "ctranslate2", "piper-tts", "onnxruntime")
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
    models: LanguageModels
    waiting: Waiting = field(default_factory=Waiting)
    """The calls that wait for an answer."""

    @classmethod
    async def load(cls, settings: Settings) -> "Engines":
        """Load every engine and put a silent turn through each.

        Raises:
            ConfigurationError: a setting names something that does not exist.
            ComponentError: an engine is missing or broken.
        """
        models = make_language_models(settings.llm)
        recogniser = make_recogniser(settings.asr)
        # The recogniser first: its process loads on another core meanwhile.
        recognising = asyncio.create_task(recogniser.start())
        answering = asyncio.create_task(models.start())
        turning = asyncio.create_task(_load_turn_models(settings.turns))
        speaking = asyncio.create_task(_load_voice(settings.tts, models.phrases))
        try:
            turns, voice, *_ = await asyncio.gather(
                turning, speaking, recognising, answering, asyncio.to_thread(versions)
            )
        except BaseException:
            starting = (recognising, answering, turning, speaking)
            for task in starting:
                task.cancel()
            await asyncio.gather(*starting, return_exceptions=True)
            await models.close()
            await recogniser.close()
            raise
        return cls(settings, turns, recogniser, voice, models)

    def components(self) -> dict[str, str]:
        """What runs in each stage, by name and version."""
        pipecat = f"pipecat {version('pipecat-ai')}"
        detector = "Smart Turn v3.2" if self.settings.turns.detector == "smart-turn" else "silence"
        return {
            "vad": f"Silero ({pipecat})",
            "turns": f"{detector}, fallback {self.settings.turns.fallback_ms} ms",
            "asr": self.recogniser.name,
            **self.models.components,
            "tts": f"Piper {version('piper-tts')} {self.voice.name}",
        }

    async def close(self) -> None:
        """Stop processes and threads."""
        self.turns.close()
        self.voice.close()
        await asyncio.gather(self.recogniser.close(), self.models.close())


class WhisperRecogniser:
    """faster-whisper as an engine: the weights are found or downloaded, loaded and run once."""

    def __init__(self, asr: Whisper) -> None:
        self._asr = asr
        self._whisper: SharedWhisper | None = None

    @property
    def name(self) -> str:
        """The model's name and where it runs."""
        model = self._whisper.name if self._whisper else self._asr.model
        details = f"{self._asr.compute_type}, {self._asr.device}, context {self._asr.context}"
        return f"faster-whisper {version('faster-whisper')} {model} ({details})"

    async def start(self) -> None:
        """Find or download the weights and load them."""
        import voice.asr.whisper.service  # noqa: F401  (not in the first call)
        from voice.asr.whisper.model import SharedWhisper
        from voice.asr.whisper.weights import resolve

        weights = await asyncio.to_thread(resolve, self._asr.model)
        self._whisper = await asyncio.to_thread(
            lambda: SharedWhisper.load(
                weights.path,
                name=weights.name,
                device=self._asr.device,
                compute_type=self._asr.compute_type,
                context=self._asr.context,
            )
        )

    def service(self) -> STTService:
        """A call's recogniser on the shared model."""
        from voice.asr.whisper.service import WhisperSTTService

        assert self._whisper is not None
        return WhisperSTTService(self._whisper, streaming=self._asr.streaming)

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
        from voice.asr.sphinx.language_model import build_language_model
        from voice.asr.sphinx.pool import SphinxPool
        from voice.responder.source_digest import source_digest

        model = await asyncio.to_thread(
            lambda: build_language_model(
                _domain_sentences, edition=source_digest(), domain_weight=self._asr.domain_weight
            )
        )
        self._pool = SphinxPool(language_model=model)
        # The service is not for the first call to import, nor to be waited for by the worker.
        await asyncio.gather(self._pool.start(), asyncio.to_thread(_import_sphinx))

    def service(self) -> STTService:
        """A call's recogniser on a worker of its own."""
        from voice.asr.sphinx.service import SphinxSTTService

        assert self._pool is not None
        return SphinxSTTService(pool=self._pool)

    async def close(self) -> None:
        """Leave no worker behind."""
        if self._pool:
            await self._pool.close()


def _domain_sentences() -> list[str]:
    from voice.responder.sentences import domain_sentences

    return domain_sentences()


def _import_sphinx() -> None:
    import voice.asr.sphinx.service  # noqa: F401


async def _load_turn_models(turns: Turns) -> TurnModels:
    models = await asyncio.to_thread(TurnModels, smart_turn=turns.detector == "smart-turn")
    await models.warm_up()
    if turns.adaptive:
        await asyncio.to_thread(SentenceEnds.shared)
    return models


async def _load_voice(tts: Piper, phrases: Sequence[str]) -> Voice:
    voice = await asyncio.to_thread(lambda: Voice(voice_file(tts), streaming=tts.streaming))
    await voice.speak("Ready.")
    await voice.prepare(phrases)
    return voice


def make_recogniser(asr: Sphinx | Whisper) -> Recogniser:
    """The engine that a pipeline's `asr` table asks for; not loaded yet."""
    return WhisperRecogniser(asr) if isinstance(asr, Whisper) else SphinxRecogniser(asr)


def voice_file(tts: Piper) -> Path:
    """The .onnx file of a pipeline's voice, downloaded when it is a published name that is not here yet."""
    if tts.voice == "embedded":
        return embedded_voice()
    if tts.voice.endswith(".onnx") or "/" in tts.voice:
        return Path(tts.voice).expanduser()
    from voice.tts.piper.published import published_voice

    return published_voice(tts.voice)


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
