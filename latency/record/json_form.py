"""Records as JSON and back: the one place where a record is written to a file or a wire, or read from it.

msgspec checks every value against the type of its field. An unknown key is ignored, because a newer version may have
written it; a value of the wrong form is refused with one sentence that names its key.
"""

import errno
import json
import re
import reprlib
import stat
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from latency.record.marks import Instant, Mark, Marks

Record = TypeVar("Record")
_FORMS = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
}
"""msgspec's names of JSON's forms, in words."""


LARGEST = 64 * 1024**2
"""The most bytes of a file."""
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, also those of the writing direction, and halves of surrogate pairs, which cannot be written."""


class TurnError(ValueError):
    """A record that contradicts itself or its format; the message names the place."""


def to_json(record: object) -> Any:
    """A record as JSON objects, lists, texts and numbers."""
    return msgspec.to_builtins(record)


def from_json(kind: type[Record], data: object) -> Record:
    """Read a record from JSON that has been parsed.

    Raises:
        TurnError: A key is missing, or a value has another form than its field.
    """
    try:
        return msgspec.convert(data, kind, dec_hook=_read)
    except msgspec.ValidationError as error:
        raise TurnError(_sentence(error, kind, data)) from error
    except UnicodeEncodeError as error:
        # Half of a surrogate pair in JSON escapes; Python's reader accepts it.
        raise TurnError("a text holds half a character") from error


def read_json(path: Path) -> Any:
    """The JSON value in a file, with all its texts `visible`.

    Raises:
        OSError: It cannot be read, is a pipe or a device, or is larger than `LARGEST`.
        ValueError: It is not JSON.
        RecursionError: It is nested too deeply.
    """
    return _visible_values(json.loads(read_file(path).decode("utf-8")))


def read_file(path: Path) -> bytes:
    """The content of a file from anywhere, but not of a pipe, which may block, nor of a device, which may be endless.

    Raises:
        OSError: It cannot be read, is a pipe or a device, or is larger than `LARGEST`.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", str(path))
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except ValueError as error:
        raise OSError(errno.EINVAL, "its name holds a NUL character", str(path)) from error
    if len(data) > LARGEST:
        raise OSError(errno.EFBIG, f"it is larger than {LARGEST // 1024**2} MiB", str(path))
    return data


def visible(text: str) -> str:
    r"""The text with its control characters and halves of characters as escapes (`\x1b`); tabs and newlines stay."""
    if text.isprintable():
        return text
    return _CONTROL.sub(lambda found: ascii(found[0])[1:-1], text)


def _visible_values(value: Any) -> Any:
    match value:
        case str():
            return visible(value)
        case dict():
            return {visible(key): _visible_values(item) for key, item in value.items()}
        case list():
            return [_visible_values(item) for item in value]
    return value


def parse(line: str) -> Any:
    """The JSON value in a line, with all its texts `visible`.

    Raises:
        TurnError: The line is not JSON.
    """
    try:
        # Most lines have no escapes except those of quotation marks and newlines, and need no cleaning.
        value = msgspec.json.decode(line)
        return value if line.isprintable() and not re.search(r"\\[ubfr]", line) else _visible_values(value)
    except (ValueError, RecursionError) as error:
        why = str(error).removeprefix("JSON is malformed: ")
        raise TurnError(f"not JSON: {why}") from error


def shown(value: object) -> str:
    """A wrong value in the form for error messages."""
    # Short and in ASCII: the value may be a megabyte long, or half a character.
    return reprlib.repr(value).encode("ascii", "backslashreplace").decode()


def _read(kind: type, data: object) -> Any:
    """Read a type that msgspec does not know."""
    if kind is not Marks:
        raise NotImplementedError(kind)
    if not isinstance(data, dict):
        raise TurnError(f"marks is {shown(data)}, not an object")
    marks = Marks()
    for mark in (mark for mark in Mark if data.get(mark) is not None):
        try:
            marks[mark] = msgspec.convert(data[mark], Instant)
        except msgspec.ValidationError as error:
            raise TurnError(f"the mark {mark} is {shown(data[mark])}, not seconds from 0 on") from error
    return marks


def _sentence(error: msgspec.ValidationError, kind: type, data: object) -> str:
    """The error as one sentence: the key, its value, and the values that it may have."""
    what, _, place = str(error).partition(" - at `$")
    key = place.removesuffix("`").removeprefix(".")
    if isinstance(error.__cause__, TurnError):
        return str(error.__cause__)
    if missing := re.fullmatch(r"Object missing required field `(\w+)`", what):
        return f"the key {'.'.join(filter(None, (key, missing[1])))} is missing"
    wrong, types = data, [inspect.type_info(kind)]
    for name, position in re.findall(r"(\w+)|\[(\d+)\]", key):
        wrong = wrong[int(position)] if position else wrong[name]  # type: ignore[index]
        types = [inner for one in types for inner in _inside(one, name)]
    if expected := re.match(r"Expected `(\w+)(?: \| null)?`([^,]*)", what):
        right = f"{_FORMS[expected[1]]}{expected[2]}"
    elif known := [str(value) for one in types if isinstance(one, inspect.LiteralType) for value in one.values]:
        right = f"one of {', '.join(known)}"
    else:
        right = "a number within range"
    return f"{key or 'the record'} is {shown(wrong)}, not {right}"


def _inside(outer: inspect.Type, name: str) -> list[inspect.Type]:
    """The types that a field of a record may have, or, without a name, an item of a list."""
    if isinstance(outer, inspect.DataclassType | inspect.StructType):
        found = [field.type for field in outer.fields if field.encode_name == name]
    else:
        found = [outer.item_type] if isinstance(outer, inspect.VarTupleType) else []
    return [one for field in found for one in (field.types if isinstance(field, inspect.UnionType) else (field,))]
