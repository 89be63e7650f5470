"""Reads the beginning of a GGUF file: checks its format, and finds the name of its model."""

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from voice.errors import ComponentError
from voice.models.store import name_at, repair

MAGIC = b"GGUF"
MADE_UP = "scripted:"
LONGEST_TEXT = 1 << 20
"""The most bytes of a text in the header; a longer one means that the file is damaged."""
# Bytes of each type of value that has a fixed size; 8 is a text and 9 a list.
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_TEXT = 8


@dataclass(frozen=True, slots=True)
class GgufFile:
    """A file with the beginning of a GGUF file.

    Parameters:
        path: the file.
        name: the model's name in the table of models, or else the file's name. The name in the header, often that of a
            training run, counts only if it marks made-up weights.
        size: bytes.
    """

    path: Path
    name: str
    size: int


def read_gguf(path: Path) -> GgufFile:
    """Read the file's beginning, without loading the model.

    Raises:
        ComponentError: the file does not exist or is not a GGUF file.
    """
    if path.is_dir():
        raise ComponentError(
            f"{path} is a folder, and a language model in this process is a GGUF file: name a file (weights for "
            "CTranslate2 do not run here)."
        )
    if not path.is_file():
        raise ComponentError(f"There is no file {path}: copy a GGUF file here, or correct the path.")
    try:
        with path.open("rb") as file:
            if file.read(4) != MAGIC:
                raise ComponentError(f'{path} is no GGUF file (it does not begin with "GGUF"): {repair(path)}.')
            name = _name(file)
    except (struct.error, ValueError, OSError) as error:
        raise ComponentError(f"{path} is a damaged GGUF file ({error}): {repair(path)}.") from error
    if not (name or "").startswith(MADE_UP):
        name = name_at(path)
    return GgufFile(path, name or path.stem, path.stat().st_size)


def _name(file: BinaryIO) -> str | None:
    """`general.name`; None if it does not come before the first list, where the vocabulary begins."""
    version, _tensors, count = struct.unpack("<IQQ", file.read(20))
    if version not in (2, 3):
        raise ValueError(f"version {version}")
    for _ in range(count):
        key = _text(file)
        (kind,) = struct.unpack("<I", file.read(4))
        if kind == _TEXT:
            value = _text(file)
            if key == "general.name":
                return value
        elif kind in _SIZES:
            file.seek(_SIZES[kind], 1)
        else:
            return None
    return None


def _text(file: BinaryIO) -> str:
    (length,) = struct.unpack("<Q", file.read(8))
    if length > LONGEST_TEXT:
        raise ValueError(f"a text of {length} bytes")
    content = file.read(length)
    if len(content) < length:
        raise ValueError("it ends too early")
    return content.decode("utf-8")
