"""Finds a Whisper model's folder, in the CTranslate2 format that faster-whisper reads. Nothing is downloaded.

It knows nothing of recognition.
"""

import json
import os
from dataclasses import dataclass
from pathlib import Path

from voice.errors import ComponentError, ConfigurationError
from voice.models.store import find_model, name_at
from voice.models.table import CTRANSLATE2_NEEDS, named, names

_VOCABULARIES = ("vocabulary.json", "vocabulary.txt")


@dataclass(frozen=True, slots=True, kw_only=True)
class WhisperWeights:
    """A complete model folder."""

    name: str
    """The requested name; for a local folder, the `name` in its config.json, or else the folder's name."""
    path: Path


def resolve(model: str) -> WhisperWeights:
    """Find the model's folder.

    Args:
        model: The name of a model that can be pulled ("tiny.en", "org/name"), or a folder ("/models/tiny", "./tiny").

    Raises:
        ConfigurationError: `model` is not the name of a Whisper model.
        ComponentError: The model is not on this machine, or the folder is not a model.
    """
    known = named(model)
    folder = os.path.expanduser(model)
    is_row = known is not None and "/" not in model
    if not is_row and (os.path.isdir(folder) or model.startswith(("/", ".", "~"))):
        return from_folder(Path(folder))
    if known is None or known.kind != "speech recognition":
        raise ConfigurationError(
            f"{model!r} names no Whisper model: use {names('speech recognition')}, a repository such as "
            "Systran/faster-whisper-medium.en, or the path of a local folder."
        )
    path = find_model(known)
    if path is None:
        raise known.not_here()
    return WhisperWeights(name=model, path=from_folder(path).path)


def from_folder(path: Path) -> WhisperWeights:
    """The model in the folder `path`.

    Raises:
        ComponentError: It is not a folder or lacks a file, which the message names.
    """
    if not path.is_dir():
        raise ComponentError(f"There is no folder {path}: a local Whisper model is a folder with {_contents()}.")
    if missing := _missing(path):
        raise ComponentError(
            f"The folder {path} is no Whisper model for faster-whisper: it lacks {', '.join(missing)}; "
            f"copy the whole model folder, with {_contents()}."
        )
    try:
        config = json.loads((path / "config.json").read_text(encoding="utf-8"))
    except ValueError as error:
        raise ComponentError(f"{path}/config.json is not JSON ({error}); copy the model folder again.") from error
    name = config.get("name") if isinstance(config, dict) else None
    return WhisperWeights(name=name if isinstance(name, str) else name_at(path) or _folder_name(path), path=path)


def _folder_name(path: Path) -> str:
    """A distinctive name for a folder: its own, or its parent's if its own is generic."""
    path = path.resolve()
    return path.parent.name if path.name == "model" and path.parent.name else path.name


def _contents() -> str:
    return f"{', '.join(CTRANSLATE2_NEEDS)} and {' or '.join(_VOCABULARIES)}"


def _missing(folder: Path) -> list[str]:
    missing = [name for name in CTRANSLATE2_NEEDS if not (folder / name).is_file()]
    if not any((folder / name).is_file() for name in _VOCABULARIES):
        missing.append(" or ".join(_VOCABULARIES))
    return missing
