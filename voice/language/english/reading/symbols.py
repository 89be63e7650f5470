"""Symbols between words and numbers: "~", "/", ranges, signs."""

import re

from voice.language.english.reading.rule import Rule

_SYMBOLS = {
    "&": "and", "=": "equals", "+": "plus", "×": "times", "÷": "divided by", "≈": "about", "≤": "at most",
    "≥": "at least", "≠": "is not", "±": "plus or minus", "→": "to", "←": "from", "<": "less than",
    "↑": "up", "↓": "down",
    ">": "greater than", "§": "section", "©": "copyright", "®": "", "™": "", "¶": "paragraph", "∞": "infinity",
    "∑": "the sum of", "∫": "the integral of",
    "°": "degrees", "<=": "at most", ">=": "at least", "!=": "is not", "==": "equals", "&&": "and", "||": "or",
    "->": "to", "=>": "to", "<-": "from",
}  # fmt: skip
_SYMBOL = "|".join(map(re.escape, sorted(_SYMBOLS, key=len, reverse=True)))


def _other_unit(found: "re.Match[str]") -> str:
    """The slash between two amounts: "180°C/350°F"."""
    return " or " if re.search(r"\d\s?[A-Za-z°/]+$", found.string[: found.start()]) else found[0]


def _range(found: "re.Match[str]") -> str:
    """A hyphen after letters and digits belongs to a code: "DDR5-6000"."""
    return " " if re.search(r"(?:^|[\s(])[A-Za-z]+\d\w*$", found.string[: found.start()]) else " to "


# What a range may begin with.
_FROM = (
    r"(?:(?<=\d)|(?<=[%°€£])|(?<=\d[a-zA-Z])|(?<=\d[ap]m)|(?<=[AP]M)|(?<=[ap]\.m\.)|(?<=\d(?:st|nd|rd|th))|(?<=°[CF]))"
)
RULES = (
    Rule(r"~(?=\s?[\d$€£])", "about "),
    Rule(r"√", "the square root of ", inside=True),
    Rule(r"(?<=\bI )[♥❤](?=\s)", "love", inside=True),
    Rule(r"\*(?P<digits>\d+)(?!\w)", "star {digits:digits}"),
    Rule(r"(?<=\d)#(?!\w)", " pound", inside=True),
    Rule(r"(?<=\d )/(?= \d)", " divided by ", inside=True),
    Rule(r"(?<=\w)²", " squared", inside=True),
    Rule(r"(?<=\w)³", " cubed", inside=True),
    Rule(r"(?<=the )WHO(?!\w)", "W H O"),
    Rule(r"\^(?=\s?-?[\w(])", " to the power of ", inside=True),
    Rule(r"(?<=\d)\*(?=\d)|(?<=\d )\*(?= \d)", " times ", inside=True),
    Rule(r"(?<!\S)[*](?!\S)", "star", inside=True),
    Rule(r"(?<!\S)#(?!\w)", "pound", inside=True),
    Rule(r"(?:(?<=[=(+*/<>±] )|(?<=[(=]))-(?=[\w(])", "minus ", inside=True),
    Rule(r"(?:(?<=[\d²³] )|(?<=\b[a-z] )|(?<=\d[a-z] ))-(?= \(?(?:\d|[b-hj-z]\b|√))", " minus ", inside=True),
    Rule(r"(?<=[^\W\d_]{2} )>(?= [^\W\d_]{2})", ",", inside=True),
    Rule(r"(?:[A-Z]/[A-Z]|n/a)(?![\w/])", lambda found: found[0].upper().replace("/", " ")),
    Rule(r"/(?=\d)", _other_unit, inside=True),
    Rule(r"(?<=[\dmt.] )x(?= \d)", " by ", inside=True),
    Rule(r"(?<!\S)@(?!\S)", "at", inside=True),
    Rule(r"(?<= )/(?= )", "or", inside=True),
    Rule(r"(?<=[a-z\d])/(?=(?:min|mo|sec|hour|day|week|month|year|h|s)\b)", " per ", inside=True),
    Rule(r"(?<=and)/(?=or)", " ", inside=True),
    Rule(r"\|(?!\|)(?<!\|\|)", ", ", inside=True),
    Rule(r"(?<=\d)\+(?!\w)", " plus", inside=True),
    Rule(r"<br\s?/?>", ", ", inside=True),
    Rule(
        r"(?:(?<=[ap]\.m\. )|(?<=[ap]m )|(?<=[AP]M )|(?<=[%°] ))[-–—](?=\s?[$€£]?\d)|(?<=\d )[–—](?= \d)",
        "to",
        inside=True,
    ),
    Rule(rf"{_FROM}(?:-|[–—]\s?)(?=[$€£]?\d)", _range, inside=True),
    Rule(r"(?<=[A-G])#(?!\w)", " sharp", inside=True),
    Rule(r"(?<=[^\W\d])[/](?=[^\W\d])", " or ", inside=True),
    Rule(r"(?<=\w)_(?=\w)", " ", inside=True),
    Rule(_SYMBOL, {symbol: f" {said} " for symbol, said in _SYMBOLS.items()}, inside=True),
)
