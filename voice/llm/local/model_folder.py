"""Reads a model folder in CTranslate2's format: what it must hold, its name, its tokenizer and chat template."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voice.errors import ComponentError, ConfigurationError
from voice.llm.local.chat_template import KNOWN, ChatTemplate, recognised
from voice.models.store import name_at
from voice.models.table import CTRANSLATE2_NEEDS

if TYPE_CHECKING:
    from tokenizers import Tokenizer

HOW = (
    "convert one with ct2-transformers-converter --model NAME --output_dir FOLDER --quantization int8 "
    "--copy_files tokenizer.json tokenizer_config.json"
)


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A complete folder.

    Parameters:
        path: the folder.
        name: the `name` in its config.json, or else that in the table of models, or that of the folder.
        template: how conversations are written for it.
    """

    path: Path
    name: str
    template: ChatTemplate

    @property
    def size(self) -> int:
        """Bytes of its weights."""
        return (self.path / "model.bin").stat().st_size


def read_folder(path: Path, *, template: str | None = None) -> ModelFolder:
    """Check a folder and read what describes the model; nothing is loaded.

    Args:
        path: the folder.
        template: the name of the chat template; None to recognise it.

    Raises:
        ComponentError: the folder is no model.
        ConfigurationError: its chat template is not known.
    """
    if not path.is_dir():
        raise ComponentError(f"There is no folder {path}: a model for CTranslate2 is a folder; {HOW}.")
    if missing := [name for name in CTRANSLATE2_NEEDS if not (path / name).is_file()]:
        raise ComponentError(f"The folder {path} is no model for CTranslate2: it lacks {', '.join(missing)}; {HOW}.")
    name = _table(path / "config.json").get("name")
    return ModelFolder(
        path, name if isinstance(name, str) else name_at(path) or path.resolve().name, _template(path, template)
    )


def read_tokenizer(folder: ModelFolder) -> "Tokenizer":
    """The folder's tokenizer.

    Raises:
        ComponentError: its file is damaged, or does not know the tokens of the chat template.
    """
    from tokenizers import Tokenizer

    file = folder.path / "tokenizer.json"
    try:
        tokenizer = Tokenizer.from_file(str(file))
    # The library raises bare exceptions of its own making.
    except Exception as error:
        raise ComponentError(f"{file} is no tokenizer ({error}); copy the model folder again.") from error
    template = folder.template
    if unknown := [token for token in (template.before_role, template.ends[0]) if tokenizer.token_to_id(token) is None]:
        raise ComponentError(
            f"{file} does not know {' and '.join(unknown)}, which the chat template {template.name} needs; "
            "it belongs to another model."
        )
    return tokenizer


def _template(path: Path, name: str | None) -> ChatTemplate:
    names = ", ".join(template.name for template in KNOWN)
    if name is not None:
        return next(template for template in KNOWN if template.name == name)
    file = path / "chat_template.jinja"
    source = file.read_text(encoding="utf-8") if file.is_file() else _own_template(path)
    if source is None:
        raise ConfigurationError(
            f"The model in {path} has no chat template: copy its tokenizer_config.json into the folder, "
            f"or set template to one of {names}."
        )
    if found := recognised(source):
        return found
    raise ConfigurationError(
        f"The chat template of the model in {path} is not one of {names}: choose another model, or serve this one "
        'with a server that runs its template, such as Ollama (provider = "openai").'
    )


def _own_template(path: Path) -> str | None:
    file = path / "tokenizer_config.json"
    source = _table(file).get("chat_template") if file.is_file() else None
    return source if isinstance(source, str) else None


def _table(file: Path) -> dict[str, Any]:
    try:
        table = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ComponentError(f"{file} is not JSON ({error}); copy the model folder again.") from error
    return table if isinstance(table, dict) else {}
