"""`engine = "scripted"`: a Whisper model with scripted output, the words of fixtures."""

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from pipelines.engines.whisper import Whisper

SCRIPT = "script.json"
"""The file that marks the folder of a scripted model."""
MODEL = ("pipelines.lab.scripted.model", "ScriptedWhisperModel")
"""The module and the class of scripted models: a part of the lab, loaded only if a pipeline names it."""


class ScriptedWhisper(Whisper):
    """A folder of `build_for_fixtures`, with Whisper's true cost, for tests and benchmarks; reports name it."""

    engine: Literal["scripted"]  # type: ignore[assignment]  # another engine with Whisper's settings

    def needs(self) -> list[str]:
        """The model's folder, if it is missing."""
        if (Path(self.model) / SCRIPT).is_file():
            return []
        return [
            f"There is no scripted model in the folder {self.model}: make one with `python -m pipelines.lab.scripted`."
        ]

    def model_class(self) -> Callable[..., Any]:
        """The class of scripted models."""
        module, name = MODEL
        found: Callable[..., Any] = getattr(importlib.import_module(module), name)
        return found


def whisper_engine(folder: Path) -> str:
    """The engine for a model folder: "scripted" if it has a script, otherwise "whisper"."""
    return "scripted" if (folder / SCRIPT).is_file() else "whisper"
