"""E-mail addresses, web addresses, telephone numbers, codes and version numbers."""

import re
from collections.abc import Mapping

from voice.language.english.numbers import cardinal, digits, grouped
from voice.language.english.reading import rule
from voice.language.reading import ABROAD, CARD, ENDINGS, MAIL, WEB

_MARKS = {
    ".": "dot", "-": "dash", "_": "underscore", "+": "plus", "/": "slash", "@": "at", "~": "tilde", "%": "percent",
}  # fmt: skip
_SPOKEN_ENDINGS = frozenset(("com", "org", "net", "edu", "gov", "dev", "app", "info"))
_PART = re.compile(r"[^\W\d_]+|\d+|[^\w\s]|_")
_COMPASS = {"N": "North", "S": "South", "E": "East", "W": "West"}
_VOWEL = re.compile(r"[aeiouy]", re.IGNORECASE)
_NAMED = (
    r"[Cc]ode|[Pp]assword|pin|PIN|OTP|zip|ZIP|passcode|number|no\.|account|confirmation|reference|extension|ext\.|tracking|invoice|"
    r"ticket|ID|id|serial|[Rr]oom|[Ff]light|[Gg]ate|[Ss]uite|[Hh]ighway|[Rr]oute"
)


def spell(letters: str) -> str:
    """Spell letter by letter: "A B C"."""
    return " ".join(letters.upper())


def address(text: str, marks: Mapping[str, str] = _MARKS) -> str:
    """An address part by part: "bob dot smith at example dot com"."""
    said = []
    parts = _PART.findall(text)
    for at, part in enumerate(parts):
        if part in marks:
            said.append(marks[part])
        elif part.isdigit():
            said.append(digits(part) if len(part) > 2 or part.startswith("0") else cardinal(int(part)))
        elif part.isalpha():
            ending = at > 0 and parts[at - 1] == "." and part in ENDINGS.split("|") and part not in _SPOKEN_ENDINGS
            said.append(spell(part) if ending or len(part) < 2 or not _VOWEL.search(part) else part)
    return " ".join(said)


class Rule(rule.Rule):
    """A rule about addresses."""

    forms = {
        **rule.Rule.forms,
        "address": address,
        "compass": _COMPASS.__getitem__,
        "spelled": spell,
        "port": lambda port: f" port {digits(port)}",
        "bits": lambda bits: f" slash {cardinal(int(bits))}",
        "more": lambda code: f", {digits(code)}",
        "dots": lambda text: " dot ".join(cardinal(int(part)) for part in text.split(".")),
    }


def _web(found: "re.Match[str]") -> str:
    """The host and the path; what follows a question mark or number sign is not read."""
    return address(re.split(r"[?#]", found["rest"], maxsplit=1)[0].rstrip("/"))


def _path(found: "re.Match[str]") -> str:
    return address(found[0], _MARKS | {":": "colon", "\\": "backslash"})


def _phone(found: "re.Match[str]") -> str:
    number, _, extension = re.sub(r"\s?(?:ext\.?|x)\s?", "x", found[0]).partition("x")
    said = ", ".join(digits(group) for group in re.findall(r"\d+", number))
    said += f" extension {cardinal(int(extension))}" if extension else ""
    return f"plus {said}" if found[0].startswith("+") else said


def _named_code(found: "re.Match[str]") -> str:
    parts = re.split("[- ]", found["code"])
    if len(parts) > 1:
        return found["name"] + ", ".join(map(digits, parts))
    said = grouped(found["code"]) if len(found["code"]) > 4 else digits(found["code"])
    return f"{found['name'].replace('#', 'number ').replace('no.', 'number')}{said}"


def _mixed_code(found: "re.Match[str]") -> str:
    """Spell letters, and numbers of more than two digits: "A B one two three"."""
    parts = re.findall(r"[A-Z]+|\d+", found[0])
    return " ".join(
        spell(part) if part.isalpha() else cardinal(int(part)) if len(part) < 3 and part[0] != "0" else digits(part)
        for part in parts
    )


def in_fours(found: "re.Match[str]") -> str:
    """Spell letters and digits, with a pause after every four of a long part."""
    parts = [
        part
        for whole in re.split("[:-]", found[0])
        for part in re.findall(r".{1,4}" if len(whole) > 7 else ".+", whole)
    ]
    return ", ".join(" ".join(digits(char) or char.upper() for char in part) for part in parts)


def _spelled(found: "re.Match[str]") -> str:
    return ", ".join(digits(char) if char.isdigit() else char.upper() for char in found[0].split("-"))


_EXTENSION = r"(?:\s(?:ext\.?|x)\s?\d{1,6})?"
_COUNTED = r"\s(?!(?:is|was|has|ships|arrives|comes|costs|needs|does)\b)(?:[a-z]+s|people|men|women|children)\b"
RULES = (
    Rule(MAIL, "{mail:address}"),
    *(Rule(pattern, _web) for pattern in WEB),
    Rule(
        r"(?P<rest>(?:[a-z]\.){3,}[a-z])(?!\w)|(?<!\S)(?P<path>~?/(?:[\w.-]+/)*[\w.-]*\w|[A-Z]:\\[\w\\. -]*\w)",
        _path,
    ),
    Rule(r"(?:[\w.-]{1,40}/){1,8}[\w-]{1,40}\.[a-z]{1,4}(?!\w)", _path),
    Rule(rf"(?:\+?\d{{1,3}}[ .-]?)?\(?\d{{3}}\)?[ .-]\d{{3}}[ .-]\d{{4}}{_EXTENSION}(?!\w)", _phone),
    Rule(rf"\(\d{{3}}\) ?\d{{3}}[ .-]\d{{4}}{_EXTENSION}(?!\w)", _phone, inside=True),
    Rule(rf"{ABROAD}{_EXTENSION}(?!\w)", _phone),
    Rule(
        r"1-8\d\d-[A-Z][A-Z-]+(?!\w)", lambda found: f"one, {digits(found[0][2:5])}, {found[0][6:].replace('-', ' ')}"
    ),
    Rule(
        r"(?P<won>[1-9]\d)-(?P<lost>[1-9]?\d)-(?P<drawn>\d)(?![\w-])",
        "{won:cardinal} {lost:cardinal} and {drawn:cardinal}",
    ),
    Rule(r"7(?P<type>\d7)-(?P<series>\d{1,2}0?0?)(?![\w-])", "seven {type:cardinal} {series:cardinal}"),
    Rule(
        r"(?P<number>\d+) (?P<compass>[NSEW])\.?"
        r"(?=\s(?:\d+(?:st|nd|rd|th)|(?:[A-Z]\w+ ){1,2}(?:St|Ave|Rd|Blvd|Dr|Ln|Street|Avenue|Road|Drive|Lane|Way)\b))",
        "{number:cardinal} {compass:compass}",
    ),
    Rule(rf"(?:1-)?\d{{3}}-\d{{4}}(?![\w-])|\d{{3}}-\d{{2}}-\d{{4}}(?![\w-])|{CARD}", _phone),
    Rule(
        r"0\d{1,4}[ -](?:\d{5,8}|\d{3,4}[ -]\d{3,4})(?!\w)"
        r"|\d{5}-\d{4}(?![\w-])|(?!\d{4}-\d\d-\d\d(?!\d))\d{2,}(?:-\d+){2,}(?!\w)",
        _phone,
    ),
    Rule(
        r"(?P<address>\d{1,3}(?:\.\d{1,3}){3})(?::(?P<port>\d{1,5})|/(?P<bits>\d\d?))?(?![\w.]\d)",
        "{address:dots}{port:port}{bits:bits}",
    ),
    Rule(r"(?:v|V|version )(?P<version>\d+(?:\.\d+)*)(?!\w)", "version {version:points}"),
    Rule(r"(?!\d\d?\.\d\d?\.(?:19|20)\d\d(?!\w))(?P<version>\d+(?:\.\d+){2,})(?!\w)", "{version:points}"),
    Rule(
        rf"(?P<name>(?:{_NAMED})(?: is|:)? ?#? ?)(?P<code>\d{{3,}}(?:-\d{{2,}}| \d{{3}}(?![\d,]))*)(?![ .,-]?\d|\w)",
        _named_code,
    ),
    Rule(
        rf"(?P<name>(?:[Cc]all|[Dd]ial|[Tt]ext|[Oo]rder) #?)(?P<code>\d{{3,}})(?![ .,-]?\d|\w|{_COUNTED})", _named_code
    ),
    Rule(rf"(?P<name>or )(?P<code>[1-9]11|112|999|988)(?!\w|[.,]\d|{_COUNTED})", _named_code),
    Rule(r"#(?P<code>\d+)#", "pound {code:digits} pound"),
    Rule(r"(?:[\dA-Fa-f]{2}[:-]){5}[\dA-Fa-f]{2}(?!\w)", in_fours),
    Rule(r"::(?=\w)", "colon colon ", inside=True),
    Rule(r"(?P<state>[A-Z]{2}) (?P<code>\d{5})(?:-(?P<more>\d{4}))?(?!\w)", "{state:spelled} {code:digits}{more:more}"),
    Rule(r"[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}(?!\w)|(?=[a-f]*\d)(?=\d*[a-f])[\da-f]{16,128}(?!\w)", in_fours),
    Rule(r"[A-Z]{2,4}(?:-\d{3,10})+(?!\w)|[A-Z]-\d{4,10}(?!\w)", in_fours),
    Rule(r"(?:[A-Za-z0-9]-){2,}[A-Za-z0-9](?!\w)", _spelled),
    Rule(r"@(?P<handle>\w+)", "at {handle:address}"),
)
CODES = (
    Rule(r"(?![a-z\d]*[a-z]{4})(?:[a-z]+\d+[a-z]|\d+[a-z]+\d)[a-z\d]{0,20}(?!\w)", in_fours),
    Rule(r"(?=[A-Z]*\d)(?=\d*[A-Z])[A-Z\d]{2,20}(?![\w.,]\d|\w)", _mixed_code),
)
"""Letters and digits together, except units."""
