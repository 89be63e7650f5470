"""`engine = "scripted"`: a Whisper model that hears the words of fixtures, in place of a real one."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from pipelines.bench.scripted import SCRIPT
from pipelines.engines.engine import Recogniser
from pipelines.engines.whisper import Whisper, WhisperRecogniser


class ScriptedWhisper(Whisper):
    """A folder made by `build_for_fixtures`, at Whisper's true cost, for tests and benchmarks; reports name it."""

    engine: Literal["scripted"]  # type: ignore[assignment]  # another engine with Whisper's settings

    def needs(self) -> list[str]:
        """The model's folder, if it is missing."""
        if (Path(self.model) / SCRIPT).is_file():
            return []
        return [f"a scripted model in the folder {self.model}: make one with `python -m pipelines.bench.scripted`"]

    def recogniser(self) -> Recogniser:
        """The recogniser, with its model not loaded yet."""
        return WhisperRecogniser(self, model_class=_model_class)


def whisper_engine(folder: Path) -> str:
    """The engine for a model folder: "scripted" if it has a script, otherwise "whisper"."""
    return "scripted" if (folder / SCRIPT).is_file() else "whisper"


def _model_class() -> Callable[..., Any]:
    from pipelines.bench.scripted.model import ScriptedWhisperModel

    return ScriptedWhisperModel
