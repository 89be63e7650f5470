"""Abbreviations with two spoken forms ("Dr.", "St.", "No."), Roman numerals and letters read singly.

The other abbreviations are in `voice.language.english.abbreviations`.
"""

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
RULES = (
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
