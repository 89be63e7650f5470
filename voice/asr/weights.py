"""Where a Whisper model's files are: a local folder, the hub's cache, or a download that is checked before it counts.

Knows nothing of recognition. Files come from the Hugging Face hub (or the mirror that `HF_ENDPOINT` names) in the
CTranslate2 format that faster-whisper reads.
"""

import hashlib
import json
import os
import re
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from voice.errors import ComponentError, ConfigurationError, VoiceError

if TYPE_CHECKING:
    from huggingface_hub.hf_api import ModelInfo, RepoSibling

REPOSITORIES = {
    **{f"{size}{en}": f"Systran/faster-whisper-{size}{en}" for size in ("tiny", "base", "small") for en in (".en", "")},
    "distil-small.en": "Systran/faster-distil-whisper-small.en",
    "large-v3-turbo": "mobiuslabsgmbh/faster-whisper-large-v3-turbo",
}
"""Short names and the repositories they stand for; any other repository is named in full."""

# faster-whisper asks the hub for a missing tokenizer.json when it loads, so a folder without one is not complete.
_NEEDED = ("config.json", "tokenizer.json", "model.bin")
_VOCABULARIES = ("vocabulary.json", "vocabulary.txt")
_OPTIONAL = ("preprocessor_config.json",)
_METADATA_TIMEOUT = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WhisperWeights:
    """A complete model folder."""

    name: str
    """As it was asked for; of a local folder the `name` in its config.json, else the folder's own."""
    revision: str | None
    """The commit on the hub; None for a local folder."""
    path: Path


def resolve(model: str, *, revision: str = "main", cache_dir: Path | None = None) -> WhisperWeights:
    """Find the model's folder, downloading it when no complete copy is there.

    A download says on stderr what it fetches and from where, and shows a bar for each file on a terminal.

    Args:
        model: A short name ("tiny.en"), a repository ("org/name") or a folder ("/models/tiny", "./tiny").
        revision: Branch, tag or commit on the hub. A copy in the cache is used as it is; the hub is not asked for a
            newer one.
        cache_dir: The hub's cache; None for its usual place.

    Raises:
        ConfigurationError: `model` names nothing that can be a Whisper model.
        ComponentError: It is not here and cannot be downloaded, or what arrived is not what the hub announced.
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
        ConfigurationError: It is no folder or lacks a file; the sentence names what is missing.
    """
    if not path.is_dir():
        raise ConfigurationError(f"There is no folder {path}: a local Whisper model is a folder with {_contents()}.")
    if missing := _missing(path):
        raise ConfigurationError(
            f"The folder {path} is no Whisper model for faster-whisper: it lacks {', '.join(missing)}; "
            f"copy the whole model folder, with {_contents()}."
        )
    try:
        config = json.loads((path / "config.json").read_text(encoding="utf-8"))
    except ValueError as error:
        raise ConfigurationError(f"{path}/config.json is not JSON ({error}); copy the model folder again.") from error
    name = config.get("name") if isinstance(config, dict) else None
    return WhisperWeights(name=name if isinstance(name, str) else path.resolve().name, revision=None, path=path)


def cached(name: str, *, revision: str = "main", cache_dir: Path | None = None) -> Path | None:
    """The folder of a complete copy in the hub's cache, else None; asks no network.

    Raises:
        ConfigurationError: `name` is neither a short name nor a repository.
    """
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(_repository(name), "model.bin", cache_dir=cache_dir, revision=revision)
    if not isinstance(found, str) or _missing(Path(found).parent):
        return None
    return Path(found).parent


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
    """Fetch the model's files at one commit, check each, then make the copy known to the cache."""
    from huggingface_hub import HfApi, constants

    repository, endpoint = _repository(name), constants.ENDPOINT
    try:
        # The libraries under huggingface_hub raise errors of their own (requests', httpx's), which differ between its
        # versions and share no base but Exception.
        info = HfApi().model_info(repository, revision=revision, files_metadata=True, timeout=_METADATA_TIMEOUT)
        files = _wanted(info, name)
        size = sum(file.size or 0 for file in files) / 1e6
        print(f"Downloading Whisper model {name} ({repository}, {size:.1f} MB) from {endpoint}", file=sys.stderr)
        paths = [_fetch(name, repository, info.sha, file, cache_dir) for file in files]
    except VoiceError:
        raise
    except Exception as error:
        raise _unavailable(name, f"cannot be downloaded from {endpoint}: {_cause(error, revision)}") from error
    snapshot = paths[-1].parent
    _publish(snapshot, revision)
    print(f"Whisper model {name} is complete, checksums verified: {snapshot}", file=sys.stderr)
    return snapshot


def _wanted(info: "ModelInfo", name: str) -> list["RepoSibling"]:
    """The files to fetch, the weights last."""
    there = {file.rfilename: file for file in info.siblings or ()}
    if missing := [needed for needed in _NEEDED if needed not in there]:
        raise ConfigurationError(
            f"{info.id} on the hub is no Whisper model for faster-whisper, as it lacks {', '.join(missing)}; "
            f"use {', '.join(REPOSITORIES)}, or a repository converted to CTranslate2 format."
        )
    files = [there[wanted] for wanted in (*_OPTIONAL, *_VOCABULARIES, *_NEEDED) if wanted in there]
    if unsigned := [file.rfilename for file in files if file.lfs is None and file.blob_id is None]:
        raise _unavailable(name, f"cannot be checked: the hub announces no checksum of {', '.join(unsigned)}")
    return files


def _fetch(name: str, repository: str, commit: str | None, file: "RepoSibling", cache_dir: Path | None) -> Path:
    """Download one file into the cache and compare its digest; a file that was not found right is not kept."""
    from huggingface_hub import hf_hub_download

    path = Path(hf_hub_download(repository, file.rfilename, revision=commit, cache_dir=cache_dir))
    is_right = False
    try:
        is_right = _digest_is_right(path, file)
    finally:
        if not is_right:
            path.resolve().unlink(missing_ok=True)
            path.unlink(missing_ok=True)
    if not is_right:
        raise _unavailable(name, f"arrived damaged: {file.rfilename} has not the hub's checksum and was deleted")
    return path


def _digest_is_right(path: Path, file: "RepoSibling") -> bool:
    """Large files are announced with their SHA-256, small ones with git's SHA-1 of a blob."""
    if file.lfs is None:
        content = path.read_bytes()
        return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest() == file.blob_id
    with path.open("rb") as content_file:
        return hashlib.file_digest(content_file, "sha256").hexdigest() == file.lfs.sha256


def _publish(snapshot: Path, revision: str) -> None:
    """Point the cache's `revision` at a verified snapshot.

    Files fetched by commit are not found by branch until this reference is there, so an interrupted or unverified
    download never passes for a model.
    """
    if revision == snapshot.name:
        return
    reference = snapshot.parents[1] / "refs" / revision
    reference.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=reference.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(snapshot.name)
        os.replace(temporary, reference)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary)


def _cause(error: Exception, revision: str) -> str:
    from huggingface_hub import errors

    if isinstance(error, errors.OfflineModeIsEnabled):
        return "HF_HUB_OFFLINE is set"
    if isinstance(error, errors.GatedRepoError):
        return "its owner must grant access first (set HF_TOKEN)"
    if isinstance(error, errors.RepositoryNotFoundError):
        return "there is no such repository, or it is private"
    if isinstance(error, errors.RevisionNotFoundError):
        return f"the repository has no revision {revision}"
    return (str(error).splitlines() or [type(error).__name__])[0]


def _unavailable(name: str, why: str) -> ComponentError:
    return ComponentError(
        f"Whisper model {name} {why}; copy its folder from another machine and set VOICE_WHISPER_DIR=/path/to/folder "
        'or asr.model = "/path/to/folder", or use the embedded pipeline, which needs no download.'
    )
