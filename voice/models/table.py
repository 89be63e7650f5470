"""The table of models that can be pulled by name (`models.toml`), and the forms of the names of others on the hub."""

import re
import tomllib
from dataclasses import replace
from importlib import resources

import msgspec

from voice.models.model import HubSource, Model

CTRANSLATE2_NEEDS = ("config.json", "tokenizer.json", "model.bin")
"""What the folder of a Whisper or language model must have; faster-whisper asks the hub for a missing tokenizer."""
CTRANSLATE2_OPTIONAL = (
    "preprocessor_config.json",
    "vocabulary.json",
    "vocabulary.txt",
    "tokenizer_config.json",
    "chat_template.jinja",
)
VOICES = "rhasspy/piper-voices"
_VOICE = re.compile(r"(?P<locale>(?P<language>[a-z]{2,3})_(?:[A-Z]{2}|\d{3}))-(?P<voice>\w+)-(?P<quality>\w+)")
_REPOSITORY = re.compile(r"\w[\w.-]*/\w[\w.-]*")


def _hub(repository: str) -> HubSource:
    """A repository with a folder in CTranslate2's format."""
    return HubSource(repository, needed=CTRANSLATE2_NEEDS, optional=CTRANSLATE2_OPTIONAL)


def _row(model: Model) -> Model:
    """A row of the table: where nothing is pinned, the hub has a folder in CTranslate2's format."""
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
