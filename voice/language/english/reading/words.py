"""Abbreviations, Roman numerals and symbols."""

import re
import unicodedata

from voice.language.english.abbreviations import ENGLISH
from voice.language.english.reading.rule import Rule
from voice.language.reading import full_stop

_SAID = ENGLISH.said()
_ABBREVIATION = "|".join(
    re.escape(short) + (r"(?=\s?\(?\d)" if short.lower() in ENGLISH.before_numbers else "")
    for short in sorted(_SAID, key=len, reverse=True)
)
_CAPITALS = {
    "US": "U S", "UK": "U K", "EU": "E U", "AI": "A I", "TV": "T V", "ID": "I D", "IP": "I P", "Ctrl": "Control",
    "Cmd": "Command", "WWI": "World War one", "WWII": "World War two",
}  # fmt: skip
_PARTS = "Chapter|Part|Section|Volume|Act|War|Type|Phase|Article|Level|Book|Appendix|Bowl"
_RULERS = (
    "Henry|Louis|Elizabeth|Charles|George|Edward|William|James|Richard|Philip|Paul|Benedict|Pius|Francis|Napoleon|"
    "Catherine|Frederick|Nicholas|Peter|Alexander|Leo|Gregory"
)
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


def _abbreviation(found: "re.Match[str]") -> str:
    return _SAID[found[0]] + full_stop(found)


def _saint_or_street(found: "re.Match[str]") -> str:
    """A name precedes "Street" and follows "Saint"."""
    before = re.search(r"(?:^|\s)(\S+)\s$", found.string[: found.start()])
    after = re.match(r"\s([A-Z][a-z]+)", found.string[found.end() :])
    named = before and re.fullmatch(r"[A-Z][\w'’]+|\d+(?:st|nd|rd|th)", before[1])
    if after and (_SAINTS.fullmatch(after[1]) or not named) and not full_stop(found):
        return "Saint"
    return "Street" + full_stop(found)


def _doctor_or_drive(found: "re.Match[str]") -> str:
    follows = re.match(r"\s[A-Z]", found.string[found.end() :])
    return "Doctor" if follows and not full_stop(found) else "Drive" + full_stop(found)


_SAINTS = re.compile(
    r"Louis|Paul|Petersburg|John|Peter|Patrick|Mary|Andrew|Andrews|George|James|Joseph|Thomas|Nicholas|"
    r"Francis|Lucia|Kitts|Vincent|Helena|Moritz|Bernard|Valentine|Augustine|Charles|Cloud|Croix|Ives|"
    r"Albans|Pancras|Martin|Anthony|Michael|Gallen|Tropez|Stephen|Luke|Mark|Matthew|Catharines|Anne|Denis|"
    r"Germain|Jude|Clair|Elizabeth|Lawrence|Basil"
)
ABBREVIATED = (
    Rule(rf"(?P<name>{_RULERS}) (?P<numeral>[IVXL]{{1,8}})(?!\w|['’](?!s\b))", "{name:text} {numeral:ruler}"),
    Rule(rf"(?P<name>{_PARTS}) (?P<numeral>[IVXL]{{1,8}})(?!\w|['’](?!s\b))", "{name:text} {numeral:roman}"),
    Rule(r"(?P<numeral>[IVX]{2,6}|M[MDCLXVI]{4,12})(?![\w'’-])", "{numeral:roman}"),
    Rule(r"St\.", _saint_or_street),
    Rule(r"St(?=\s*(?:,|$))", "Street"),
    Rule(r"Dr\.", _doctor_or_drive),
    Rule(r"(?<![.?!] )[Nn]o\. ?(?=\d)|#(?=\d|[A-Z]-?\d)", "number "),
    Rule(r"Sec\.(?=\s?\d)", "Section"),
    Rule(rf"(?:{_ABBREVIATION})(?!\w)", _abbreviation),
    Rule(rf"(?:{'|'.join(_CAPITALS)})(?![\w$])", _CAPITALS),
    Rule(r"(?P<letter>[^\W\d_])(?P=letter){4,}", lambda found: found["letter"].lower() * 3),
    Rule(r"(?P<part>[^\W\d_]{2,3})(?P=part){4,}", lambda found: found["part"] * 3),
    Rule(r"(?P<first>[a-z]{2,})(?P<second>[A-Z][a-z]+)(?!\w)", "{first:text} {second:text}"),
    Rule(r"[Α-Ωα-ω](?![Α-ωά-ώ])", lambda found: unicodedata.name(found[0]).split()[-1].lower() + " ", inside=True),
)


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
SYMBOLS = (
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
