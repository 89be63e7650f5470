"""`engine = "whisper"`: faster-whisper on this machine."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pipelines.engines.engine import AsrTable, Recogniser
from pipelines.versions import version
from voice.errors import ComponentError

if TYPE_CHECKING:
    from pipecat.services.stt_service import STTService

    from voice.asr.whisper.model import SharedWhisper


class Whisper(AsrTable):
    """faster-whisper."""

    engine: Literal["whisper"]
    model: str = "tiny.en"
    """A model's folder, or its name on the hub."""
    device: Literal["cpu", "cuda"] = "cpu"
    """Where it runs."""
    compute_type: Literal["int8", "int8_float16", "float16", "float32"] = "int8"
    """The precision of its weights."""
    context: Literal["full", "auto"] = "full"
    """What a pass encodes: whole windows of 30 s, or (`auto`) little more than the audio, several times faster; see
    `voice.asr.whisper.decoding`."""
    streaming: bool = True
    """Whether it decodes while the user speaks, where a pass is fast enough for that."""

    def needs(self) -> list[str]:
        """The weights."""
        from voice.asr.whisper.weights import cached, from_folder

        folder = Path(self.model).expanduser()
        if folder.is_dir() or self.model.startswith(("/", ".", "~")):
            try:
                from_folder(folder)
            except ComponentError as error:
                return [str(error)]
        elif cached(self.model) is None:
            return [
                f"Whisper weights {self.model}: downloaded at the first start; without the hub, copy a model folder "
                'here and --set asr.model="/path/to/it"'
            ]
        return []

    def recogniser(self) -> Recogniser:
        """The model; not loaded yet."""
        return WhisperRecogniser(self)


class WhisperRecogniser:
    """The weights are found or downloaded, loaded and run once.

    Args:
        asr: the settings.
        model_class: gives the class that runs a model folder; None for faster-whisper's own.
    """

    def __init__(self, asr: Whisper, *, model_class: Callable[[], Callable[..., Any]] | None = None) -> None:
        self._asr = asr
        self._model_class = model_class
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
                model_class=self._model_class and self._model_class(),
            )
        )

    def service(self, *, at_fades: bool = False) -> "STTService":
        """A call's recogniser on the shared model."""
        from voice.asr.whisper.service import WhisperSTTService

        assert self._whisper is not None
        return WhisperSTTService(self._whisper, streaming=self._asr.streaming, at_fades=at_fades)

    async def close(self) -> None:
        """End the model's thread."""
        if self._whisper:
            self._whisper.close()
