"""Keeps keys out of what people read: a provider that refuses a key may quote it, and its words reach the report.

A process has few keys, and whatever writes its log must know all of them, so they are kept here, for the process.
"""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote

HIDDEN = "[key hidden]"
SHORTEST = 8
"""Characters; a shorter key would hide ordinary words."""
LONGEST_QUOTE = 160
"""Characters of somebody else's words that are passed on."""
_SECRET = re.compile(r"key|token|secret|passw|credential|auth", re.IGNORECASE)
"""In the name of a setting, header or parameter of an address whose value nobody should read."""
_LIKE_A_KEY = re.compile(
    r"\b(?:sk|pk|gsk|csk|xai|hf|key)[-_][\w-]{16,}"
    r"|(?<=[Bb]earer )[\w.~+/-]{16,}=*"
    r"|(?<=://)[^/\s:@]*:[^/\s@]+(?=@)"
    r"|(?<=[?&])(?P<name>[\w.-]*(?i:key|token|secret|password|signature)=)(?!\[key )[^&\s\"']{4,}"
)
_keys: set[str] = set()


def hide(key: str) -> None:
    """Keep a key out of everything that is redacted from now on, however it is written in an address or a repr."""
    if len(key) >= SHORTEST:
        _keys.update({key, quote(key, safe="", errors="replace"), unquote(key), repr(key)[1:-1]})


def is_secret(name: str) -> bool:
    """Whether a setting of this name has a value that nobody should read; one that names a variable does not."""
    return bool(_SECRET.search(name)) and not name.endswith("_env")


def hide_secrets(settings: Mapping[str, Any]) -> None:
    """Hide every secret in nested tables of settings."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            hide_secrets(value)
        if isinstance(value, str) and is_secret(name):
            hide(value)


def without_secrets(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Nested tables of settings as they may be shown."""
    return {
        name: HIDDEN if is_secret(name) else without_secrets(value) if isinstance(value, Mapping) else value
        for name, value in settings.items()
    }


def redacted(text: str) -> str:
    """The text without the keys that are known, and without what looks like one."""
    for key in sorted(_keys, key=len, reverse=True):
        text = text.replace(key, HIDDEN)
    return _LIKE_A_KEY.sub(lambda found: f"{found['name'] or ''}{HIDDEN}", text)


def quoted(words: str) -> str:
    """Somebody else's words as part of a sentence: one line without keys and a full stop, of `LONGEST_QUOTE` at most.

    Keys are hidden first: half a key would not be known any more.
    """
    line = printable(redacted(" ".join(words.split()).rstrip(".")))
    return line if len(line) <= LONGEST_QUOTE else f"{line[:LONGEST_QUOTE]}…"


def printable(text: str) -> str:
    """A text from outside as it may stand in a log: control characters, which terminals obey, are escaped."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
