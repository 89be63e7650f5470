"""Finds a Whisper model's files: in a local folder, in the hub's cache, or by a download that is verified.

It knows nothing of recognition. Files come from the Hugging Face hub (or the mirror named by `HF_ENDPOINT`) in the
CTranslate2 format that faster-whisper reads.
"""

import json
import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from voice.errors import ComponentError, ConfigurationError
from voice.hub import HubFiles

REPOSITORIES = {
    **{f"{size}{en}": f"Systran/faster-whisper-{size}{en}" for size in ("tiny", "base", "small") for en in (".en", "")},
    "distil-small.en": "Systran/faster-distil-whisper-small.en",
    "large-v3-turbo": "mobiuslabsgmbh/faster-whisper-large-v3-turbo",
}
"""Short names of repositories; any other repository is named in full."""

# faster-whisper asks the hub for a missing tokenizer.json when it loads, so a folder without one is not complete.
_NEEDED = ("config.json", "tokenizer.json", "model.bin")
_VOCABULARIES = ("vocabulary.json", "vocabulary.txt")
_OPTIONAL = ("preprocessor_config.json",)


@dataclass(frozen=True, slots=True, kw_only=True)
class WhisperWeights:
    """A complete model folder."""

    name: str
    """The name that was requested; for a local folder the `name` in its config.json, or else the folder's name."""
    revision: str | None
    """The commit on the hub; None for a local folder."""
    path: Path


def resolve(model: str, *, revision: str = "main", cache_dir: Path | None = None) -> WhisperWeights:
    """Find the model's folder; download it if there is no complete copy.

    A download prints on stderr what it fetches and from where, and shows a bar for each file on a terminal.

    Args:
        model: A short name ("tiny.en"), a repository ("org/name") or a folder ("/models/tiny", "./tiny").
        revision: Branch, tag or commit on the hub. A copy in the cache is used without asking the hub for a newer one.
        cache_dir: The hub's cache folder; None for the usual one.

    Raises:
        ConfigurationError: `model` is not the name of a Whisper model.
        ComponentError: The folder is no model; or there is no copy, and the download fails or does not match the hub's
            checksums.
    """
    folder = os.path.expanduser(model)
    if model not in REPOSITORIES and (os.path.isdir(folder) or model.startswith(("/", ".", "~"))):
        return from_folder(Path(folder))
    path = cached(model, revision=revision, cache_dir=cache_dir)
    if path is None:
        path = _download(model, revision, cache_dir)
    return WhisperWeights(name=model, revision=path.name, path=path)


def from_folder(path: Path) -> WhisperWeights:
    """The model in the folder `path`.

    Raises:
        ComponentError: It is not a folder or lacks a file; the message names what is missing.
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
    return WhisperWeights(name=name if isinstance(name, str) else path.resolve().name, revision=None, path=path)


def cached(name: str, *, revision: str = "main", cache_dir: Path | None = None) -> Path | None:
    """The folder of a complete copy in the hub's cache, or None; does not use the network.

    Raises:
        ConfigurationError: `name` is neither a short name nor a repository.
    """
    found = _on_hub(name, revision, cache_dir).cached("model.bin")
    return None if found is None or _missing(found.parent) else found.parent


def _repository(name: str) -> str:
    if name in REPOSITORIES:
        return REPOSITORIES[name]
    if re.fullmatch(r"\w[\w.-]*/\w[\w.-]*", name):
        return name
    raise ConfigurationError(
        f"{name!r} names no Whisper model: use {', '.join(REPOSITORIES)}, a repository such as "
        "Systran/faster-whisper-medium.en, or the path of a local folder."
    )


def _contents() -> str:
    return f"{', '.join(_NEEDED)} and {' or '.join(_VOCABULARIES)}"


def _missing(folder: Path) -> list[str]:
    missing = [name for name in _NEEDED if not (folder / name).is_file()]
    if not any((folder / name).is_file() for name in _VOCABULARIES):
        missing.append(" or ".join(_VOCABULARIES))
    return missing


def _download(name: str, revision: str, cache_dir: Path | None) -> Path:
    def wanted(there: Collection[str]) -> list[str]:
        """The files to fetch, the weights last."""
        if missing := [needed for needed in _NEEDED if needed not in there]:
            raise ConfigurationError(
                f"{_repository(name)} on the hub is no Whisper model for faster-whisper, as it lacks "
                f"{', '.join(missing)}; use {', '.join(REPOSITORIES)}, or a repository converted to CTranslate2 format."
            )
        return [file for file in (*_OPTIONAL, *_VOCABULARIES, *_NEEDED) if file in there]

    return _on_hub(name, revision, cache_dir).download(wanted)


def _on_hub(name: str, revision: str, cache_dir: Path | None) -> HubFiles:
    return HubFiles(
        what=f"Whisper model {name}",
        repository=_repository(name),
        alternative="copy its folder from another machine and set VOICE_WHISPER_DIR=/path/to/folder or "
        'asr.model = "/path/to/folder", or use the embedded pipeline, which needs no download',
        revision=revision,
        cache_dir=cache_dir,
    )
