"""Keeps keys out of what people read: a provider that refuses a key may quote it, and its words reach the report.

A process has few keys, and whatever writes its log must know all of them, so they are kept here, for the process.
"""

import re
from urllib.parse import quote

HIDDEN = "[key hidden]"
SHORTEST = 8
"""Characters; a shorter key would hide ordinary words."""
_LIKE_A_KEY = re.compile(r"\b(?:sk|pk|gsk|csk|xai|key)[-_][\w-]{16,}|(?<=[Bb]earer )[\w.~+/-]{16,}=*")
_keys: set[str] = set()


def hide(key: str) -> None:
    """Keep a key out of everything that is redacted from now on."""
    if len(key) >= SHORTEST:
        _keys.update({key, quote(key, safe="")})


def redacted(text: str) -> str:
    """The text without the keys that are known, and without what looks like one."""
    for key in sorted(_keys, key=len, reverse=True):
        text = text.replace(key, HIDDEN)
    return _LIKE_A_KEY.sub(HIDDEN, text)


def printable(text: str) -> str:
    """A text from outside as it may stand in a log: control characters, which terminals obey, are escaped."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
