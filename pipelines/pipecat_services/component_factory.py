"""Gives every call a new instance of a pipecat component, made by a class or function or from a dotted path."""

import inspect
import json
import os
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, get_args
from weakref import WeakSet

from pipecat.processors.frame_processor import FrameProcessor
from pipecat.services.ai_service import AIService

from voice.errors import ConfigurationError

Part = Callable[[], FrameProcessor] | FrameProcessor
"""A class or function that makes a component, or one component, which then serves a single call."""


class ComponentFactory:
    """Makes components for calls; each instance serves one.

    Args:
        part: a class, a function or a component, or its dotted path, such as
            "pipecat.services.openai.llm.OpenAILLMService".
        where: its name in error messages, such as "asr.service".
        parameters: keyword arguments, as read from TOML. A table `settings` becomes the class's own `Settings`, and a
            string becomes a path if the class expects one.
        kind: the required class of an instance.
    """

    def __init__(
        self,
        part: Part | str,
        *,
        where: str,
        parameters: Mapping[str, Any] | None = None,
        kind: type[FrameProcessor] = FrameProcessor,
    ) -> None:
        self._part, self._where, self._kind = part, where, kind
        self._parameters = dict(parameters or {})
        self._served: WeakSet[FrameProcessor] = WeakSet()
        self._first: FrameProcessor | None = None
        self._name: str | None = None

    @property
    def name(self) -> str:
        """The name in reports: "pipecat:" and the class, with its model once an instance has been made."""
        return self._name or f"pipecat:{path_of(self._part).rpartition('.')[2]}"

    def prepare(self) -> None:
        """Make the first call's instance, so that errors appear before any call.

        Raises:
            ConfigurationError: the component cannot be imported or made, or is not of this kind.
        """
        if self._first is None:
            self._first = self._make()

    def take(self) -> FrameProcessor:
        """An instance for a call.

        Raises:
            ConfigurationError: the component cannot be made, or has already served a call.
        """
        self.prepare()
        made, self._first = self._first, None
        assert made is not None
        if made in self._served:
            raise ConfigurationError(
                f"{self._where}: this {type(made).__name__} has served a call, and can serve only one; "
                "give its class or a factory."
            )
        self._served.add(made)
        return made

    def _make(self) -> FrameProcessor:
        part = load(self._part, where=self._where) if isinstance(self._part, str) else self._part
        try:
            made = part if isinstance(part, FrameProcessor) else part(**self._arguments(part))
        except ConfigurationError:
            raise
        except Exception as error:
            # The user's component may raise anything.
            raise ConfigurationError(f"{self._where}: {path_of(part)} cannot be made: {_words(error)}.") from error
        if not isinstance(made, self._kind):
            raise ConfigurationError(
                f"{self._where}: {path_of(part)} makes a {type(made).__name__}, not a {self._kind.__name__} of pipecat."
            )
        if not _is_initialised(made):
            raise ConfigurationError(
                f"{self._where}: {path_of(part)} cannot be used: its __init__ does not call super().__init__()."
            )
        model = _model_name(made)
        self._name = f"pipecat:{type(made).__name__}" + (f" ({model})" if model else "")
        return made

    def _arguments(self, part: Callable[..., Any]) -> dict[str, Any]:
        """The parameters, converted to the types that the class expects."""
        found = dict(self._parameters)
        if isinstance(found.get("settings"), dict) and hasattr(part, "Settings"):
            found["settings"] = part.Settings(**found["settings"])
        known = inspect.signature(part).parameters if found else {}
        for name, value in found.items():
            annotation = known[name].annotation if name in known else None
            if isinstance(value, str) and (annotation is Path or Path in get_args(annotation)):
                found[name] = Path(value).expanduser()
        return found


def load(path: str, *, where: str) -> Callable[..., Any]:
    """The class or function at a dotted path; this also finds modules in the working directory.

    Raises:
        ConfigurationError: there is no such class or function, or its module cannot be imported.
    """
    module, _, name = path.rpartition(".")
    if (here := os.getcwd()) not in sys.path:
        sys.path.append(here)
    try:
        found: Any = getattr(import_module(module), name) if module else None
    except Exception as error:
        # The user's module may raise anything.
        raise ConfigurationError(f"{where}: {path} cannot be imported: {_words(error)}.") from error
    if not callable(found):
        raise ConfigurationError(f'{where}: "{path}" is not a class; write it as "package.module.Class".')
    made: Callable[..., Any] = found
    return made


def load_component(path: str, *, where: str) -> Callable[..., Any]:
    """As `load`, but a class must be a pipecat component. The result of a function is unknown until it is called.

    Raises:
        ConfigurationError: as for `load`, or the class is not a component.
    """
    part = load(path, where=where)
    if isinstance(part, type) and not issubclass(part, FrameProcessor):
        raise ConfigurationError(f"{where}: {path} is not a component of pipecat: its class must be a FrameProcessor.")
    return part


def path_of(part: object) -> str:
    """The dotted path of a class or function, or of an instance's class."""
    if isinstance(part, str):
        return part
    named: Any = part if hasattr(part, "__qualname__") else type(part)
    return f"{named.__module__}.{named.__qualname__}"


def _words(error: Exception) -> str:
    """The type of an error and the first line of its message, without a full stop."""
    first = next(iter(str(error).splitlines()), "").strip().rstrip(".:")
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def _is_initialised(made: FrameProcessor) -> bool:
    """Whether the constructors of pipecat's base classes have run."""
    set_by_them = ("id", "next", "_settings") if isinstance(made, AIService) else ("id", "next")
    return all(hasattr(made, name) for name in set_by_them)


def _model_name(made: FrameProcessor) -> str | None:
    """The name of a service's model; a model folder may give its name in config.json, as a scripted model does."""
    model = getattr(made._settings, "model", None) if isinstance(made, AIService) else None
    if not isinstance(model, str):
        return None
    try:
        name = json.loads((Path(model) / "config.json").read_text(encoding="utf-8")).get("name")
    except (OSError, ValueError, AttributeError):
        return model
    return name if isinstance(name, str) else model
