"""The engines of a pipeline, loaded once and shared by every call: turn models, recogniser, voice, language models."""

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from pipelines.engines.engine import Recogniser, Synthesiser
from pipelines.providers.answering import LanguageModels
from pipelines.reader_loading import load_reader, reader_file
from pipelines.settings import Settings
from pipelines.versions import version, versions
from voice.errors import ComponentError
from voice.language import NAMES
from voice.language.by_language import PHRASES
from voice.llm.answer.introduction import INTRODUCTIONS
from voice.llm.wires.in_process.gguf_file import GgufFile
from voice.server.admission import Headroom
from voice.turns.speculation import WaitingCalls
from voice.turns.turn_models import TurnModels
from voice.turns.words.end_reader import EndReader
from voice.turns.words.trigram_reader import TrigramReader

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Engines:
    """The engines that calls share."""

    settings: Settings
    turns: TurnModels
    recogniser: Recogniser
    synthesiser: Synthesiser
    models: LanguageModels
    reader: EndReader | None
    """Reads the ends of turns; None if no language model does."""
    waiting: WaitingCalls = field(default_factory=WaitingCalls)
    """The calls that wait for an answer."""
    headroom: Headroom = field(default_factory=Headroom)
    """The capacity of the server that calls leave free."""

    @classmethod
    async def load(cls, settings: Settings, names: Sequence[str] = ()) -> "Engines":
        """Load every engine and put a silent turn through each.

        Args:
            settings: the pipeline.
            names: names that callers may use.

        Raises:
            ConfigurationError: a setting names something that does not exist.
            ComponentError: an engine is missing or broken.
        """
        language = settings.language
        for notice in settings.notices():
            log.warning("%s.", notice)
        models = settings.llm.language_models(language)
        if needs := [*settings.asr.needs(), *settings.tts.needs()]:
            raise ComponentError(needs[0])
        read_by = await asyncio.to_thread(reader_file, settings.turns, language)
        recogniser, synthesiser = settings.asr.recogniser(language), settings.tts.synthesiser()
        # The recogniser goes first, because its process loads on another core.
        recognising = asyncio.create_task(recogniser.start(names))
        answering = asyncio.create_task(models.start())
        turning = asyncio.create_task(_load_turn_models(settings))
        speaking = asyncio.create_task(
            synthesiser.start((*models.phrases, PHRASES[language].went_wrong), INTRODUCTIONS[language])
        )
        reading = asyncio.create_task(_load_reader(read_by))
        try:
            turns, reader, *_ = await asyncio.gather(
                turning, reading, speaking, recognising, answering, asyncio.to_thread(versions)
            )
        except BaseException:
            starting = (recognising, answering, turning, reading, speaking)
            for task in starting:
                task.cancel()
            await asyncio.gather(*starting, return_exceptions=True)
            await asyncio.gather(models.close(), recogniser.close(), synthesiser.close())
            raise
        engines = cls(settings, turns, recogniser, synthesiser, models, reader)
        engines.headroom.queues = [waits for waits in (recogniser.waits, synthesiser.waits) if waits is not None]
        models.withhold_hedges(lambda: engines.headroom.is_scarce(time.monotonic()))
        return engines

    def components(self) -> dict[str, str]:
        """The component in each stage, by name and version."""
        pipecat = f"pipecat {version('pipecat-ai')}"
        turns = self.settings.turns
        detector = "Smart Turn v3.2" if turns.detector == "smart-turn" else "silence"
        weighs = turns.adaptive and turns.detector == "smart-turn"
        reads_words = weighs and (self.reader is not None or self.settings.language == "en")
        reads = f", words read by {self.reader.name if self.reader else 'trigrams'}" if reads_words else ""
        bound = f"risk {turns.risk * 100:g} % of pauses" if weighs else f"silence timeout {turns.fallback_ms} ms"
        if weighs and not reads_words:
            bound += ", not how words read"
        language = {} if self.settings.language == "en" else {"language": NAMES[self.settings.language]}
        return {
            **language,
            "vad": f"Silero ({pipecat})",
            "turns": f"{detector}{reads}, {bound}",
            "asr": self.recogniser.name,
            **self.models.components,
            "tts": self.synthesiser.name,
        }

    async def close(self) -> None:
        """Stop processes and threads."""
        self.turns.close()
        if self.reader:
            await asyncio.to_thread(self.reader.close)
        await asyncio.gather(self.recogniser.close(), self.models.close(), self.synthesiser.close())


async def _load_reader(file: GgufFile | None) -> EndReader | None:
    return None if file is None else await asyncio.to_thread(load_reader, file)


async def _load_turn_models(settings: Settings) -> TurnModels:
    turns = settings.turns
    models = await asyncio.to_thread(TurnModels, smart_turn=turns.detector == "smart-turn")
    await models.warm_up()
    if turns.adaptive and settings.language == "en":
        await asyncio.to_thread(TrigramReader.shared)
    return models
