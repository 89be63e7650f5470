r"""Cleans text from outside, so that it can be encoded and contains only text. Pure.

JSON may contain half of an emoji ("\ud83d") or a NUL. Such text can neither be sent nor written, so it is cleaned on
entry: callers' texts, models' answers, calls and reports, and tools' results.
"""

import re
from typing import Any

_PAIR = re.compile(r"[\ud800-\udbff][\udc00-\udfff]")
_BREAK = re.compile(r"\r\n?|[\v\f\x85\u2028\u2029]")
# Terminal escapes, controls, lone surrogates, and noncharacters.
_NO_TEXT = re.compile(r"\x1b\[[0-?]{0,16}[ -/]{0,4}[@-~]|[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufeff\ufffe\uffff]")
_UNFINISHED = re.compile(r"(?:[\ud800-\udbff]|\r|\x1b(?:\[[0-?]{0,16}[ -/]{0,4})?)\Z")


def plain(text: str) -> str:
    r"""The text without control characters and lone surrogates. Two matching surrogates become one character.

    Line breaks of any kind become `\n`; tabs stay.
    """
    if text.isprintable():
        return text
    text = _PAIR.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)
    return _NO_TEXT.sub("", _BREAK.sub("\n", text))


def plain_values(value: Any) -> Any:
    """A JSON value with all its strings made `plain`.

    Raises:
        RecursionError: it is nested some hundreds deep.
    """
    match value:
        case str():
            return plain(value)
        case dict():
            return {plain_values(key): plain_values(item) for key, item in value.items()}
        case list() | tuple():
            return [plain_values(item) for item in value]
    return value


class PlainStream:
    """Makes a streamed text `plain`; holds back only characters that the next ones may complete."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> str:
        """The plain text that is certain by now."""
        text = self._held + text
        unfinished = _UNFINISHED.search(text)
        end = unfinished.start() if unfinished else len(text)
        self._held = text[end:]
        return plain(text[:end])

    def flush(self) -> str:
        """End the stream; returns the rest."""
        rest, self._held = self._held, ""
        return plain(rest)
