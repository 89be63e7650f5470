"""`engine = "scripted"`: a Whisper model that hears the words of fixtures, in the place of a real one."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from pipelines.bench.scripted import SCRIPT
from pipelines.engines.engine import Recogniser
from pipelines.engines.whisper import Whisper, WhisperRecogniser


class ScriptedWhisper(Whisper):
    """A folder of `build_for_fixtures` at Whisper's true cost; tests and benchmarks use it, and reports name it."""

    engine: Literal["scripted"]  # type: ignore[assignment]  # another engine with Whisper's settings

    def needs(self) -> list[str]:
        """The folder."""
        if (Path(self.model) / SCRIPT).is_file():
            return []
        return [f"a scripted model in the folder {self.model}: make one with `python -m pipelines.bench.scripted`"]

    def recogniser(self) -> Recogniser:
        """The model; not loaded yet."""
        return WhisperRecogniser(self, model_class=_model_class)


def whisper_engine(folder: Path) -> str:
    """The engine that runs a model folder: "scripted" for one with a script, else "whisper"."""
    return "scripted" if (folder / SCRIPT).is_file() else "whisper"


def _model_class() -> Callable[..., Any]:
    from pipelines.bench.scripted.model import ScriptedWhisperModel

    return ScriptedWhisperModel
