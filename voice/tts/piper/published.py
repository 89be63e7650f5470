"""Finds Piper voices by their published names: in the hub's cache, or downloaded and checked.

A voice's licence is named in its MODEL_CARD on the hub and binds its users.
"""

import re
from collections.abc import Collection
from difflib import get_close_matches
from pathlib import Path, PurePosixPath

from voice.errors import ConfigurationError
from voice.hub import HubFiles

REPOSITORY = "rhasspy/piper-voices"
_NAME = re.compile(r"(?P<locale>(?P<language>[a-z]{2,3})_(?:[A-Z]{2}|\d{3}))-(?P<voice>\w+)-(?P<quality>\w+)")


def published_voice(name: str, *, cache_dir: Path | None = None) -> Path:
    """The voice's .onnx file, with its .onnx.json beside it; downloads both if the cache has no checked copy.

    A cached copy is used as it is; the hub is not asked for a newer one. A download reports on stderr what it fetches
    and from where, and on a terminal shows a progress bar for each file.

    Args:
        name: `<lang>_<REGION>-<voice>-<quality>`, such as "en_US-lessac-medium".
        cache_dir: The hub's cache; None for its default folder.

    Raises:
        ConfigurationError: `name` does not have this form, or the hub has no voice of that name.
        ComponentError: The voice is not cached and cannot be downloaded, or the download is not what the hub announced.
    """
    if here := cached_voice(name, cache_dir=cache_dir):
        return here
    model = _model(name)

    def wanted(there: Collection[str]) -> list[str]:
        files = [f"{model}.json", model]
        if not set(files) <= set(there):
            raise ConfigurationError(_no_such_voice(name, there))
        return files

    return _on_hub(name, cache_dir).download(wanted) / model


def cached_voice(name: str, *, cache_dir: Path | None = None) -> Path | None:
    """The voice's .onnx file if the hub's cache has a checked copy, else None; does not use the network.

    Raises:
        ConfigurationError: `name` does not have the form of a published name.
    """
    model, voice = _model(name), _on_hub(name, cache_dir)
    return voice.cached(model) if voice.cached(f"{model}.json") else None


def cached_voices(*, cache_dir: Path | None = None) -> dict[str, Path]:
    """The .onnx files of all voices of which the hub's cache has a checked copy, by name; does not use the network."""
    from huggingface_hub import constants
    from huggingface_hub.file_download import repo_folder_name

    folder = Path(cache_dir or constants.HF_HUB_CACHE) / repo_folder_name(repo_id=REPOSITORY, repo_type="model")
    marks = sorted(path.name for path in (folder / "refs" / "checked").glob("*") if _NAME.fullmatch(path.name))
    return {name: path for name in marks if (path := cached_voice(name, cache_dir=cache_dir))}


def _model(name: str) -> str:
    """Where the voice's .onnx file lies in the repository."""
    parts = _NAME.fullmatch(name)
    if parts is None:
        raise ConfigurationError(
            f'{name!r} names no Piper voice: tts.voice is "embedded", the path of a voice\'s .onnx file, or a '
            "published name <lang>_<REGION>-<voice>-<quality> such as en_US-lessac-medium."
        )
    return "{language}/{locale}/{voice}/{quality}/".format(**parts.groupdict()) + f"{name}.onnx"


def _on_hub(name: str, cache_dir: Path | None) -> HubFiles:
    return HubFiles(
        what=f"Piper voice {name}",
        repository=REPOSITORY,
        alternative=f'copy {name}.onnx and {name}.onnx.json here and set tts.voice = "/path/to/{name}.onnx", '
        'or use tts.voice = "embedded", which needs no download'
        + ("" if name.startswith("en") else " and reads everything as if it were English"),
        mark=f"checked/{name}",
        cache_dir=cache_dir,
    )


def _no_such_voice(name: str, there: Collection[str]) -> str:
    names = [PurePosixPath(file).stem for file in there if file.endswith(".onnx")]
    similar = get_close_matches(name, names, n=3)
    return (
        f"The hub's {REPOSITORY} has no voice {name}{', but ' if similar else ''}{', '.join(similar)}; "
        'use a name that it has, the path of a voice\'s .onnx file, or tts.voice = "embedded".'
    )
