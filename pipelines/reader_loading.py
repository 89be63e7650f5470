"""The language model that judges how finished words read (`turns.reader`)."""

from typing import TYPE_CHECKING

from pipelines.settings import Turns
from voice.errors import ComponentError, ConfigurationError

if TYPE_CHECKING:
    from voice.llm.wires.in_process.gguf_file import GgufFile
    from voice.turns.words.end_reader import EndReader

CHATML = b"<|im_start|>"
VOCABULARY = 1 << 24
"""The bytes at a GGUF file's beginning that hold its vocabulary."""
PREFERRED = "smollm2-135m"
"""The model that `auto` takes if it is pulled."""


def reader_file(turns: Turns, language: str) -> "GgufFile | None":
    """The model's file; None if the trigram model or no model judges.

    Raises:
        ConfigurationError: the name is not known.
        ComponentError: it is not here, is no model, or its runtime is not installed.
    """
    if not turns.adaptive or turns.detector != "smart-turn" or turns.reader == "trigram":
        return None
    from pipelines.providers.own import usable_file
    from voice.models.store import find_model
    from voice.models.table import named

    if turns.reader != "auto":
        try:
            file = usable_file(turns.reader)
        except ConfigurationError as error:
            raise ConfigurationError(f'turns.reader is "auto", "trigram" or a model: {error}') from error
        except ComponentError as error:
            raise ComponentError(f"turns.reader: {error}") from error
        with file.path.open("rb") as beginning:
            if CHATML not in beginning.read(VOCABULARY):
                raise ComponentError(
                    f"The model in {file.path} does not know ChatML, in which turns.reader asks it: choose {PREFERRED}."
                )
        return file
    preferred = named(PREFERRED)
    assert preferred is not None
    if language != "en" or not _can_run() or find_model(preferred) is None:
        return None
    return usable_file(PREFERRED)


def load_reader(file: "GgufFile") -> "EndReader":
    """Load the model and have it read once; blocks for half a second.

    Raises:
        ComponentError: it does not fit into memory, is damaged, or does not run.
    """
    from voice.llm.wires.in_process.engine import Engine
    from voice.turns.words.end_reader import WINDOW, EndReader

    engine = Engine(file, window=WINDOW)
    reader = EndReader(engine.next_tokens, name=file.name, close=engine.close)
    try:
        reader.read("Hello.")
    except ComponentError as error:
        reader.close()
        raise ComponentError(
            f"The model in {file.path} cannot read ends of turns: {error}; choose another one."
        ) from error
    return reader


def _can_run() -> bool:
    """Whether the runtime of GGUF files is installed; it has no wheels for some systems."""
    from importlib.util import find_spec

    return find_spec("xllamacpp") is not None
