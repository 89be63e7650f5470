"""`engine = "whisper"`: faster-whisper on this machine."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from pipelines.engines.engine import AsrTable, Recogniser
from pipelines.versions import version
from voice.errors import ComponentError
from voice.language import Language
from voice.priority import lower_thread_priority
from voice.second_pass import LONGEST_WAIT

if TYPE_CHECKING:
    from pipecat.services.stt_service import STTService

    from pipelines.calibrating.measuring import Weights
    from voice.asr.whisper.decoding import Decoding
    from voice.asr.whisper.model import SharedWhisper
    from voice.queue_waits import QueueWaits
    from voice.second_pass import WordCheck

WEIGHTS: dict[Language, str] = {"de": "base"}
"""The default weights for each language other than English."""


class Whisper(AsrTable):
    """faster-whisper."""

    engine: Literal["whisper"]
    model: str = "tiny.en"
    """A model's folder, or the name of a model that was pulled."""
    device: Literal["cpu", "cuda"] = "cpu"
    """Where it runs."""
    compute_type: Literal["int8", "int8_float16", "float16", "float32"] = "int8"
    """The precision of its weights."""
    context: Literal["measured", "full", "auto"] = "auto"
    """What a pass encodes: little more than the audio (`auto`), or whole windows of 30 s, about five times slower
    (`full`). `measured` uses the result of `voice calibrate` for these weights on this machine, and `auto` until there
    is one."""
    least_context_ms: Annotated[int, Field(ge=1000, le=30_000)] | None = None
    """The least that `auto` encodes: 6000, or as calibrated."""
    beam_size: Annotated[int, Field(ge=1, le=20)] | None = None
    """Beam size in decoding: 1, or as calibrated."""
    temperature_fallback: bool = False
    """Whether to decode a final text that looks wrong again at higher temperatures."""
    threads: Annotated[int, Field(ge=1, le=64)] | None = None
    """Threads of one pass: 1, or as calibrated."""
    streaming: bool = True
    """Whether to decode while the user speaks, if a pass is fast enough."""
    check: Literal["auto", "on", "off"] = "auto"
    """Whether a second pass, of at least 15 s, checks the words while the language model thinks: always, never, or if
    it is faster than the model. With `context = "full"` there is nothing to check."""
    check_wait_ms: Annotated[int, Field(ge=0, le=5000)] = round(LONGEST_WAIT * 1000)
    """How long an answer that could be spoken waits for that check at most. In calls with irreversible tools it always
    waits."""

    def needs(self) -> list[str]:
        """The weights."""
        from voice.asr.whisper.weights import resolve

        try:
            resolve(self.model)
        except ComponentError as error:
            return [str(error)]
        return []

    def try_out(self) -> str:
        """Load the weights and decode a second of silence."""
        weights = self.weights()
        model = self.load(weights, language=None)
        model.close()
        return (
            f"faster-whisper {weights.name} in {weights.path}: loaded, a pass takes {model.pass_seconds * 1000:.0f} ms"
        )

    def objection(self, language: Language) -> str | None:
        """Weights whose name ends in .en are English; the languages of a folder are known once it is loaded."""
        if language == "en" or not self.model.endswith(".en"):
            return None
        return f'asr.model = "{self.model}" understands English only: use other weights, such as "base" or "small"'

    def recogniser(self, language: Language = "en") -> Recogniser:
        """The model; not loaded yet."""
        return WhisperRecogniser(self, language)

    def model_class(self) -> Callable[..., Any] | None:
        """The class that runs a model folder; None for faster-whisper's own. It is imported here."""
        return None

    def weights(self) -> "Weights":
        """The weights.

        Raises:
            ConfigurationError, ComponentError: see `voice.asr.whisper.weights.resolve`.
        """
        from pipelines.calibrating.measuring import Weights
        from voice.asr.whisper.weights import resolve

        found = resolve(self.model)
        return Weights(
            name=found.name,
            path=found.path,
            device=self.device,
            compute_type=self.compute_type,
            model_class=self.model_class(),
        )

    def load(
        self, weights: "Weights", *, language: Language | None, decoding: "Decoding | None" = None
    ) -> "SharedWhisper":
        """Load the weights and run them once; blocks.

        Args:
            weights: the result of `weights`.
            language: the language spoken; None to have a multilingual model detect it.
            decoding: how each pass decodes; None for the usual way.
        """
        from voice.asr.whisper.decoding import AUTO
        from voice.asr.whisper.model import SharedWhisper

        return SharedWhisper.load(
            weights.path,
            name=weights.name,
            device=weights.device,
            compute_type=weights.compute_type,
            language=language,
            decoding=decoding or AUTO,
            model_class=weights.model_class,
        )

    def decoding(self, calibrated: "Decoding | None") -> "Decoding":
        """How to decode: by the settings, and by the calibration where nothing is set."""
        from voice.asr.whisper.decoding import AUTO, Decoding

        base = calibrated or AUTO
        return Decoding(
            context=base.context if self.context == "measured" else self.context,
            least_context=base.least_context if self.least_context_ms is None else self.least_context_ms / 1000,
            beam_size=base.beam_size if self.beam_size is None else self.beam_size,
            temperature_fallback=self.temperature_fallback,
            threads=base.threads if self.threads is None else self.threads,
        )


class WhisperRecogniser:
    """Weights that are found, loaded and run once."""

    def __init__(self, asr: Whisper, language: Language) -> None:
        self._asr, self._language = asr, language
        self._whisper: SharedWhisper | None = None
        self._decoding: Decoding | None = None
        self._why = "as set"

    @property
    def name(self) -> str:
        """The model's name, its device, its decoding and the reason for that."""
        model = self._whisper.name if self._whisper else self._asr.model
        how = f"context {self._decoding or self._asr.context}; {self._why}"
        details = f"{self._asr.compute_type}, {self._asr.device}, {how}"
        return f"faster-whisper {version('faster-whisper')} {model} ({details})"

    @property
    def waits(self) -> "QueueWaits | None":
        """How long utterances wait for a pass."""
        return self._whisper.waits if self._whisper else None

    @property
    def gives_partials(self) -> bool:
        """Whether it decodes unfinished speech: the setting asks for it and a pass is short enough."""
        from voice.asr.whisper.model import LONGEST_PASS

        return self._asr.streaming and self._whisper is not None and self._whisper.pass_seconds <= LONGEST_PASS

    async def start(self, names: Sequence[str] = ()) -> None:
        """Find the weights, choose how they decode, and load them."""
        import voice.asr.whisper.service  # noqa: F401  (not in the first call)

        weights = await asyncio.to_thread(self._asr.weights)
        # The checksum of the weights, the key of their calibration, takes a moment.
        self._decoding = await asyncio.to_thread(self._decide, weights)
        # The engine's own threads inherit the priority of the thread that loads it.
        loader = ThreadPoolExecutor(1, initializer=lower_thread_priority)
        try:
            load = partial(self._asr.load, weights, language=self._language, decoding=self._decoding)
            self._whisper = await asyncio.get_running_loop().run_in_executor(loader, load)
        finally:
            loader.shutdown(wait=False)

    def service(self, *, at_fades: bool = False, check: "WordCheck | None" = None) -> "STTService":
        """A call's recogniser on the shared model."""
        from voice.asr.whisper.service import WhisperSTTService

        assert self._whisper is not None
        return WhisperSTTService(
            self._whisper,
            streaming=self._asr.streaming,
            at_fades=at_fades,
            checking=self._asr.check if check else "off",
            check_limit=self._asr.check_wait_ms / 1000,
            check=check,
        )

    async def close(self) -> None:
        """End the model's threads."""
        if self._whisper:
            self._whisper.close()

    def _decide(self, weights: "Weights") -> "Decoding":
        """How to decode: by the settings or by the calibration."""
        from pipelines.calibrating.calibrate import is_scripted, kept
        from voice.cache import user_cache

        if self._asr.context != "measured" or is_scripted(weights.name):
            return self._asr.decoding(None)
        found = kept(weights, folder=user_cache())
        self._why = found.why if found else "not calibrated"
        return self._asr.decoding(found.chosen if found else None)
