"""E-mail addresses, web addresses, telephone numbers, codes and version numbers."""

import re

from voice.tts.reading.numbers import cardinal, digits, grouped
from voice.tts.reading.rule import Rule

_MARKS = {
    ".": "dot",
    "-": "dash",
    "_": "underscore",
    "+": "plus",
    "/": "slash",
    "@": "at",
    "~": "tilde",
    "%": "percent",
}
_ENDINGS = "com|org|net|edu|gov|io|dev|ai|app|info|co|uk|de|fr|eu|us|ca|au|me|tv|ch|at|nl|jp|in|rs"
_SPOKEN_ENDINGS = frozenset(("com", "org", "net", "edu", "gov", "dev", "app", "info"))
_PART = re.compile(r"[^\W\d_]+|\d+|[^\w\s]|_")
_VOWEL = re.compile(r"[aeiouy]", re.IGNORECASE)
_NAMED = (
    r"code|pin|PIN|zip|ZIP|passcode|number|no\.|account|order|confirmation|reference|extension|ext\.|tracking|invoice|"
    r"ticket|ID|id|serial|[Cc]all|[Dd]ial|[Rr]oom|[Ff]light|[Gg]ate|[Ss]uite|[Hh]ighway|[Rr]oute"
)


def spell(letters: str) -> str:
    """Each letter by itself: "A B C"."""
    return " ".join(letters.upper())


def address(text: str) -> str:
    """An address part by part: "bob dot smith at example dot com"."""
    said = []
    parts = _PART.findall(text)
    for at, part in enumerate(parts):
        if part in _MARKS:
            said.append(_MARKS[part])
        elif part.isdigit():
            said.append(digits(part) if len(part) > 2 or part.startswith("0") else cardinal(int(part)))
        elif part.isalpha():
            ending = at > 0 and parts[at - 1] == "." and part in _ENDINGS.split("|") and part not in _SPOKEN_ENDINGS
            said.append(spell(part) if ending or len(part) < 2 or not _VOWEL.search(part) else part)
    return " ".join(said)


def _web(found: "re.Match[str]") -> str:
    """The host and the path; what follows a question mark or number sign is not read."""
    return address(re.split(r"[?#]", found["rest"], maxsplit=1)[0].rstrip("/"))


def _phone(found: "re.Match[str]") -> str:
    groups = re.findall(r"\d+", found[0])
    said = ", ".join(digits(group) for group in groups)
    return f"plus {said}" if found[0].startswith("+") else said


def _named_code(found: "re.Match[str]") -> str:
    return f"{found['name']}{grouped(found['code']) if len(found['code']) > 4 else digits(found['code'])}"


def _mixed_code(found: "re.Match[str]") -> str:
    """Letters by themselves, and numbers of more than two digits too: "A B one two three"."""
    parts = re.findall(r"[A-Z]+|\d+", found[0])
    return " ".join(
        spell(part) if part.isalpha() else cardinal(int(part)) if len(part) < 3 and part[0] != "0" else digits(part)
        for part in parts
    )


def _spelled(found: "re.Match[str]") -> str:
    return ", ".join(digits(char) if char.isdigit() else char.upper() for char in found[0].split("-"))


RULES = (
    Rule(r"(?P<mail>[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{2,64}){1,4})", lambda found: address(found["mail"])),
    Rule(r"(?:https?://(?:www\.)?|www\.)(?P<rest>[\w-]+(?:[^\s<>()\[\]\"]*[\w/])?)", _web),
    Rule(rf"(?P<rest>(?:[\w-]{{1,63}}\.){{1,4}}(?:{_ENDINGS})(?:/[\w./-]*\w)?)(?![\w@])", _web),
    Rule(r"(?:\+?\d{1,3}[ .-]?)?\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}(?!\w)", _phone),
    Rule(r"\(\d{3}\) ?\d{3}[ .-]\d{4}(?!\w)", _phone, inside=True),
    Rule(r"\+\d{1,3}(?:[ -]?\(?\d{2,4}\)?){2,5}(?!\w)", _phone),
    Rule(r"(?:1-)?\d{3}-\d{4}(?![\w-])|\d{3}-\d{2}-\d{4}(?![\w-])|\d{4}(?: \d{4}){3}(?!\w)", _phone),
    Rule(
        r"(?P<address>\d{1,3}(?:\.\d{1,3}){3})(?![\w.]\d)",
        lambda found: " dot ".join(cardinal(int(part)) for part in found["address"].split(".")),
    ),
    Rule(
        r"(?:v|V|version )(?P<version>\d+(?:\.\d+)*)(?!\w)",
        lambda found: "version " + " point ".join(cardinal(int(part)) for part in found["version"].split(".")),
    ),
    Rule(
        r"(?P<version>\d+(?:\.\d+){2,})(?!\w)",
        lambda found: " point ".join(cardinal(int(part)) for part in found["version"].split(".")),
    ),
    Rule(rf"(?P<name>(?:{_NAMED})(?: is|:)? ?#? ?)(?P<code>\d{{3,}})(?![\w.,]\d|\w)", _named_code),
    Rule(r"(?:[A-Za-z0-9]-){2,}[A-Za-z0-9](?!\w)", _spelled),
    Rule(r"@(?P<handle>\w+)", lambda found: f"at {address(found['handle'])}"),
)
CODES = (Rule(r"(?=[A-Z]*\d)(?=\d*[A-Z])[A-Z\d]{2,20}(?![\w.,]\d|\w)", _mixed_code),)
"""Letters and digits together; what is a unit is none."""
