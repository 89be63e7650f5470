"""Keeps keys out of logs and reports: a provider that refuses a key may quote it in its error.

A process has few keys, and everything that writes its log must know all of them, so they are kept here.
"""

import base64
import html
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote

HIDDEN = "[key hidden]"
SHORTEST = 8
"""The least characters of a key to hide; a shorter one would hide ordinary words."""
LONGEST_QUOTE = 160
"""The most characters passed on from foreign text."""
LONGEST_READ = 4000
"""The most characters of foreign text searched for keys."""
_SECRET = re.compile(r"key|token|secret|passw|credential|auth", re.IGNORECASE)
"""Words in the name of a secret setting, header or URL parameter."""
_LIKE_A_KEY = re.compile(
    r"\b(?:sk|pk|gsk|csk|xai|hf|key)[-_][\w-]{16,}"
    r"|(?<=[Bb]earer )[\w.~+/-]{16,}=*"
    r"|(?P<scheme>\b[A-Za-z][\w+.-]{0,30}:/{1,3})(?:[^\s/@:\"'<>]{0,99}:[^\s\"'<>]{0,256}|[^\s/\"'<>]{1,256})(?=@)"
    r"|(?<![\w/@.-])[^\s/@:\"'=<>(]{1,99}:[^\s@\"'<>]{1,256}(?=@[\w\[])"
    r"|(?<=[?&;#])(?P<name>[\w.-]{0,64}(?i:key|token|secret|passw|password|credential|auth|sig|signature)=)"
    r"(?!\[key )[^&\s\"']+"
)
"""Patterns of keys, of user and password in a URL, and of secret URL parameters."""
_RUN = 12
"""The least characters of a key's part that are hidden anywhere, regardless of characters between them."""
_PIECES = re.compile(
    r"(?P<escape>%(?:25)*[0-9A-Fa-f]{2}|&#?\w{1,8};|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|\\[nrtbf])|[^\W_]+"
)
_ESCAPES, _SEPARATORS = re.compile(r"[%&\\]"), re.compile(r"[\W_]+")
_keys: set[str] = set()
_runs: set[str] = set()
"""Every run of `_RUN` letters and digits in a key, or in its base64 or hexadecimal digits."""


def hide(key: str) -> None:
    """Redact a key from now on, in any notation in a URL or a repr.

    Parts of a longer key are hidden as well, even interspersed, in another case or encoded.
    """
    if len(key) < SHORTEST or key in _keys:
        return
    _keys.update({key, quote(key, safe="", errors="replace"), unquote(key), repr(key)[1:-1]})
    if "://" in key:
        # Its beginning is that of other addresses.
        return
    raw = key.encode(errors="replace")
    encoded = [
        base64.b64encode(bytes(before) + raw).decode().rstrip("=")[before * 2 - before // 2 : -1] for before in range(3)
    ]
    for form in (key, unquote(key), raw.hex(), *encoded):
        folded, _ = _folded(form)
        _runs.update(folded[at : at + _RUN] for at in range(len(folded) - _RUN + 1))


def _folded(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The letters and digits of a text in one case, with escapes resolved, and their positions."""
    letters: list[str] = []
    places: list[tuple[int, int]] = []
    for found in _PIECES.finditer(text):
        start, end = found.span()
        if not found["escape"]:
            letters += [char.casefold()[:1] for char in found[0]]
            places += [(at, at + 1) for at in range(start, end)]
        elif (char := _resolved(found[0])).isalnum():
            letters.append(char.casefold()[:1])
            places.append((start, end))
    return "".join(letters), places


def _resolved(escape: str) -> str:
    """The character of an escape; nothing for white space and invalid ones."""
    if escape[0] == "&":
        char = html.unescape(escape)
        return char if len(char) == 1 else ""
    digits = escape[-2:] if escape[0] == "%" else escape[2:]
    return chr(int(digits, 16)) if digits else ""


def _without_runs(text: str) -> str:
    """The text without runs that occur in a key."""
    if not _runs or len(text) < _RUN:
        return text
    if not _ESCAPES.search(text):
        flat = _SEPARATORS.sub("", text).casefold()
        if not any(flat[at : at + _RUN] in _runs for at in range(len(flat) - _RUN + 1)):
            return text
    folded, places = _folded(text)
    kept: list[str] = []
    done = until = 0
    begin = 0
    for at in range(len(folded) - _RUN + 1):
        if folded[at : at + _RUN] not in _runs:
            continue
        start, end = places[at][0], places[at + _RUN - 1][1]
        if start >= until:
            if until:
                kept += [text[done:begin], HIDDEN]
                done = until
            begin = start
        until = end
    if not until:
        return text
    return "".join([*kept, text[done:begin], HIDDEN, text[until:]])


def is_secret(name: str) -> bool:
    """Whether a setting of this name holds a secret; the name of a variable is not one."""
    return bool(_SECRET.search(name)) and not name.endswith("_env")


def hide_secrets(settings: Mapping[str, Any]) -> None:
    """Hide every secret in nested tables of settings."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            hide_secrets(value)
        if isinstance(value, str) and is_secret(name):
            hide(value)


def without_secrets(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Nested tables of settings, with secrets hidden."""
    return {
        name: HIDDEN if is_secret(name) else without_secrets(value) if isinstance(value, Mapping) else value
        for name, value in settings.items()
    }


def redacted(text: str) -> str:
    """The text without known keys and without apparent ones."""
    for key in sorted(_keys, key=len, reverse=True):
        text = text.replace(key, HIDDEN)
    text = _without_runs(text)
    return _LIKE_A_KEY.sub(lambda found: f"{found['scheme'] or found['name'] or ''}{HIDDEN}", text)


def quoted(words: str) -> str:
    """Foreign text for use in a sentence: one line without keys and full stop, at most `LONGEST_QUOTE` characters.

    Keys are hidden first: half a key would not be recognised.
    """
    words = " ".join(words[:LONGEST_READ].split()).rstrip(".")
    line = printable(redacted(words))
    return line if len(line) <= LONGEST_QUOTE else f"{line[:LONGEST_QUOTE]}…"


def printable(text: str) -> str:
    """A text from outside in a form safe for logs: control characters, which terminals obey, are escaped."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
