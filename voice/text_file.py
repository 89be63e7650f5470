"""Reads text files in the encodings that editors use: pipelines, scenarios, labels."""

import codecs
from pathlib import Path

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Byte order marks and their encodings; the mark of UTF-32 begins with that of UTF-16."""
LARGEST = 16 * 1024 * 1024
"""Bytes."""


def read_text(path: Path) -> str:
    """The text of a file, as UTF-8 unless a byte order mark says otherwise, with newlines as in Python.

    Raises:
        OSError: it cannot be read.
        UnicodeError: it is not text, or too large; the message says what to do.
    """
    with path.open("rb") as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise UnicodeError(f"it is larger than {LARGEST // 1024**2} MiB, so it is not such a file")
    mark, encoding = next((known for known in _MARKS if data.startswith(known[0])), (b"", "utf-8"))
    try:
        text = data[len(mark) :].decode(encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise UnicodeError(f"line {line} is not {encoding.upper()} text; save the file as UTF-8") from error
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise UnicodeError(f"line {line} holds a NUL character; save the file as UTF-8 text")
    return text.replace("\r\n", "\n").replace("\r", "\n")
