"""`engine = "piper"`: Piper in this process."""

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pipelines.engines.engine import Synthesiser, TtsTable
from pipelines.versions import version
from voice.errors import ComponentError, ConfigurationError
from voice.language import NAMES, Language

if TYPE_CHECKING:
    from pipecat.services.tts_service import TTSService

    from voice.queue_waits import QueueWaits
    from voice.tts.piper.voice import Voice


VOICES: dict[Language, str] = {"en": "embedded", "de": "de_DE-thorsten-medium"}
"""The usual voice for each language."""
_NAMED = re.compile(r"([a-z]{2,3})_[A-Z\d]{2,3}-")


class Piper(TtsTable):
    """Piper."""

    engine: Literal["piper"] = "piper"
    voice: str = "embedded"
    """`embedded` (English), a voice's .onnx file, or the name of a pulled voice, such as en_US-joe-medium; the usual
    one for `language` = "de" is de_DE-thorsten-medium."""
    streaming: bool = True
    """Whether to send a sentence's audio while the rest is synthesised, if the voice allows it."""
    normalise: bool = True
    """Whether English and German voices say figures, dates, addresses and abbreviations in words, and no voice reads
    Markdown aloud. Captions and records keep the written text."""
    introductions: bool = True
    """Whether a beginning such as "Sure," is spoken while the rest of its sentence is still being written."""

    @property
    def summary(self) -> str:
        """The engine and its voice."""
        return f"{self.engine}, voice {self.voice}"

    def needs(self) -> list[str]:
        """The voice."""
        if self.voice == "embedded":
            return []
        if self._is_path:
            files = (Path(self.voice).expanduser(), Path(f"{self.voice}.json").expanduser())
            return [
                f"The voice file {file} does not exist: copy it here, or correct tts.voice."
                for file in files
                if not file.is_file()
            ]
        try:
            self.file()
        except ComponentError as error:
            return [str(error)]
        return []

    def notice(self, language: Language) -> str | None:
        """A voice of another language mispronounces this one."""
        spoken = self._speaks
        if spoken is not None and spoken != language:
            usual = VOICES[language]
            return (
                f'tts.voice = "{self.voice}" reads {NAMES[language]} as if it were {NAMES.get(spoken, spoken)}; '
                f'a {NAMES[language]} voice is tts.voice = "{usual}"'
            )
        return None

    def synthesiser(self) -> Synthesiser:
        """The voice; not loaded yet."""
        return PiperSynthesiser(self)

    def file(self) -> Path:
        """The voice's .onnx file.

        Raises:
            ConfigurationError: the name is not that of a voice.
            ComponentError: the voice is not here.
        """
        from voice.models.store import find_model
        from voice.models.table import named
        from voice.tts.piper.voice import embedded_voice

        if self.voice == "embedded":
            return embedded_voice()
        if self._is_path:
            return Path(self.voice).expanduser()
        model = named(self.voice)
        if model is None or model.kind != "voice":
            raise ConfigurationError(
                f'{self.voice!r} names no Piper voice: tts.voice is "embedded", the path of a voice\'s .onnx file, or '
                "a published name <lang>_<REGION>-<voice>-<quality> such as en_US-joe-medium."
            )
        path = find_model(model)
        if path is None:
            raise model.not_here()
        return path

    @property
    def _speaks(self) -> str | None:
        """The language code at the beginning of the voice's name, such as "de"; None if it has none."""
        if self.voice == "embedded":
            return "en"
        named = _NAMED.match(Path(self.voice).name)
        return named[1] if named else None

    @property
    def _is_path(self) -> bool:
        return self.voice.endswith(".onnx") or "/" in self.voice


class PiperSynthesiser:
    """A voice that is loaded once."""

    speaks_ahead = True

    def __init__(self, tts: Piper) -> None:
        self._tts = tts
        self._voice: Voice | None = None
        self._preparing: asyncio.Task[None] | None = None

    @property
    def name(self) -> str:
        """The engine and its voice."""
        return f"Piper {version('piper-tts')} {self.voice.name}"

    @property
    def waits(self) -> "QueueWaits":
        """How long first clauses wait for the voice's thread."""
        return self.voice.waits

    @property
    def voice(self) -> "Voice":
        """The voice, once loaded."""
        assert self._voice is not None
        return self._voice

    @property
    def sample_rate(self) -> int:
        """The voice's sample rate, in Hz."""
        return self.voice.sample_rate

    def introduction(self, text: str) -> float | None:
        """The seconds that a beginning such as "Sure," lasts; None for any other text, and until it is synthesised."""
        return self.voice.introduction(text)

    async def start(self, phrases: Sequence[str], introductions: Sequence[str] = ()) -> None:
        """Load the voice, synthesise once, and keep the audio of the phrases; the introductions follow."""
        import voice.tts.piper.service  # noqa: F401  (not in the first call)
        from voice.tts.piper.voice import Voice

        tts = self._tts
        self._voice = loaded = await asyncio.to_thread(
            lambda: Voice(tts.file(), streaming=tts.streaming, normalise=tts.normalise)
        )
        await loaded.speak("Ready.")
        await loaded.prepare(phrases)
        if tts.introductions:
            self._preparing = asyncio.create_task(loaded.prepare_introductions(introductions))

    def service(self) -> "TTSService":
        """A call's synthesis on the shared voice."""
        from voice.server.output import HEAD_START
        from voice.tts.piper.service import PiperTTSService

        return PiperTTSService(self.voice, sent_ahead=HEAD_START)

    async def close(self) -> None:
        """End the voice's thread."""
        if self._preparing:
            self._preparing.cancel()
        if self._voice:
            self._voice.close()
