"""Finds, verifies and removes the models on this machine. Does not use the network."""

import json
import shutil
from pathlib import Path

from voice.cache import user_cache
from voice.errors import ComponentError
from voice.models.hub import HubModel, marked_voices, sha256
from voice.models.table import MODELS, Kind, Model, named


class DamagedModel(ComponentError):
    """A model on this machine differs from the pinned one."""


def find(name: str) -> Path | None:
    """The place of the model of that name; None if it is missing or unknown.

    Returns:
        The folder of a Whisper model, the .onnx file of a voice, or a GGUF file.
    """
    model = named(name)
    return find_model(model) if model else None


def find_model(model: Model) -> Path | None:
    """The place of the model: from the package index, or else in the hub's cache; None if missing or incomplete."""
    if _is_whole(model):
        return model.place(index_place(model))
    found = HubModel(model, model.hub).find() if model.hub else None
    return model.place(found) if found else None


def damaged() -> list[str]:
    """Names of models from the package index whose files are missing or have the wrong size."""
    return [model.name for model in MODELS if model.wheels and index_place(model).is_dir() and not _is_whole(model)]


def found(kind: Kind) -> dict[str, Path]:
    """The available models of a kind, by name, those of the table first."""
    names = [model.name for model in MODELS if model.kind == kind]
    if kind == "voice":
        names += [name for name in marked_voices() if name not in names]
    return {name: path for name in names if (path := find(name))}


def name_at(path: Path) -> str | None:
    """The name of the table's model at a path; None if there is none."""
    for model in MODELS:
        if model.main in (None, path.name) and (
            path.absolute() == model.place(index_place(model)).absolute() or is_from_hub(model, path)
        ):
            return model.name
    return None


def repair(path: Path) -> str:
    """How to repair the model at a path: a clause that begins with a verb."""
    for model in MODELS:
        if path.parent == index_place(model):
            path = model.place(path.parent)
    name = name_at(path)
    return f"repair it with `voice models pull {name}`" if name else "copy or download it again"


def is_from_hub(model: Model, path: Path) -> bool:
    """Whether a path is in the hub's cache."""
    return model.hub is not None and HubModel(model, model.hub).is_at(path)


def index_place(model: Model) -> Path:
    """The folder for the model's files from the package index."""
    return user_cache() / "models" / model.name


def staging(model: Model) -> Path:
    """The folder for an unfinished download from the package index."""
    return user_cache() / "models" / f".{_file_name(model)}"


def lock(model: Model) -> Path:
    """The lock file for pulling or removing a model."""
    return user_cache() / "models" / f".{_file_name(model)}.lock"


def verify(model: Model, path: Path) -> str:
    """Compare every byte of a model with the pins, or with the recorded checksums of the first pull.

    Returns:
        The finding, a sentence.

    Raises:
        DamagedModel: it is not the one that is pinned.
        ComponentError: it differs from the first pull, or the record of that is damaged.
    """
    folder = path.parent if model.main else path
    optional = model.hub.optional if model.hub and not model.files else ()
    names = [*model.needed, *(name for name in optional if (folder / name).is_file())]
    here = {name: sha256(folder / name) for name in names}
    first = None if model.files else _first_pull(model)
    expected = {file.name: file.sha256 for file in model.files} or first
    if expected is not None and any(here.get(name) != digest for name, digest in expected.items()):
        pull = f"`voice models pull {model.name}`"
        if model.files:
            raise DamagedModel(f"{model.what} in {folder} does not have the pinned SHA-256: {pull} gets it again.")
        raise ComponentError(
            f"{model.what} in {folder} is not what was pulled first: run `voice models remove {model.name}`, then "
            f"{pull}."
        )
    if model.files:
        return f"Every byte of {model.name} is verified: it has the pinned SHA-256."
    if first is not None:
        return f"Every byte of {model.name} is verified: it is what the first pull got."
    record, weights = _record(model), model.main or "model.bin"
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_text(json.dumps({"sha256": here}), encoding="utf-8")
    return (
        f"Nothing is pinned for {model.name}: this first pull got {weights} with the SHA-256 {here[weights]}, and "
        "later ones are compared with it."
    )


def remove(model: Model) -> bool:
    """Remove the model and the remains of an unfinished pull from this machine; returns whether it was there."""
    was_here = find_model(model) is not None
    for folder in (index_place(model), staging(model)):
        if folder.exists():
            was_here = True
            shutil.rmtree(folder)
    if model.hub:
        HubModel(model, model.hub).remove()
    _record(model).unlink(missing_ok=True)
    return was_here


def _first_pull(model: Model) -> dict[str, str] | None:
    """The checksums of the first pull, by file; None if there was none."""
    file = _record(model)
    if not file.is_file():
        return None
    try:
        return dict(json.loads(file.read_text(encoding="utf-8"))["sha256"])
    except (ValueError, KeyError, TypeError) as error:
        raise ComponentError(
            f"{file}, which says what the first pull of {model.name} got, is damaged: delete it, and "
            f"`voice models pull {model.name}` records what is here now."
        ) from error


def _is_whole(model: Model) -> bool:
    """Whether the model's folder from the package index has all files, by their sizes."""
    folder = index_place(model)
    try:
        return bool(model.wheels) and all((folder / file.name).stat().st_size == file.size for file in model.files)
    except OSError:
        return False


def _record(model: Model) -> Path:
    return user_cache() / "pulled" / f"{_file_name(model)}.json"


def _file_name(model: Model) -> str:
    return model.name.replace("/", "--")
