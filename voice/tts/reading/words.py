"""Abbreviations, Roman numerals and symbols."""

import re

from voice.tts.reading.numbers import cardinal, ordinal, roman
from voice.tts.reading.rule import Rule

_ABBREVIATIONS = {
    "Mr.": "Mister", "Mrs.": "Missus", "Ms.": "Miz", "Prof.": "Professor", "Rev.": "Reverend", "Gov.": "Governor",
    "Sen.": "Senator", "Gen.": "General", "Col.": "Colonel", "Capt.": "Captain", "Lt.": "Lieutenant",
    "Sgt.": "Sergeant", "Jr.": "Junior", "Sr.": "Senior", "e.g.": "for example", "i.e.": "that is",
    "vs.": "versus", "approx.": "approximately", "dept.": "department", "Dept.": "Department", "est.": "estimated",
    "Inc.": "Incorporated", "Ltd.": "Limited", "Corp.": "Corporation", "Ave.": "Avenue", "Rd.": "Road",
    "Blvd.": "Boulevard", "Ln.": "Lane", "Apt.": "Apartment", "Mt.": "Mount", "Ph.D.": "P H D",
    "a.k.a.": "also known as",
    "w/o": "without", "w/": "with", "c/o": "care of", "ext.": "extension", "Fig.": "Figure", "fig.": "figure",
    "max.": "maximum", "U.S.": "U S", "U.K.": "U K", "U.S.A.": "U S A", "etc.": "et cetera",
}  # fmt: skip
_ABBREVIATION = "|".join(map(re.escape, sorted(_ABBREVIATIONS, key=len, reverse=True)))
_CAPITALS = {"US": "U S", "UK": "U K", "EU": "E U", "AI": "A I", "TV": "T V", "ID": "I D"}
_PARTS = "Chapter|Part|Section|Volume|Act|War|Type|Phase|Article|Level|Book|Appendix|Bowl"
_RULERS = (
    "Henry|Louis|Elizabeth|Charles|George|Edward|William|James|Richard|Philip|Paul|Benedict|Pius|Francis|Napoleon|"
    "Catherine|Frederick|Nicholas|Peter|Alexander|Leo|Gregory"
)
_SYMBOLS = {
    "&": "and", "=": "equals", "+": "plus", "×": "times", "÷": "divided by", "≈": "about", "≤": "at most",
    "≥": "at least", "≠": "is not", "±": "plus or minus", "→": "to", "←": "from", "<": "less than",
    ">": "greater than", "§": "section", "©": "copyright", "®": "", "™": "",
}  # fmt: skip
_SYMBOL = "[" + "".join(re.escape(symbol) for symbol in _SYMBOLS) + "]"


def _ruler(found: "re.Match[str]") -> str:
    value = roman(found["numeral"])
    return f"{found['name']} the {ordinal(value)}" if value else found[0]


def _part(found: "re.Match[str]") -> str:
    value = roman(found["numeral"])
    return f"{found['name']} {cardinal(value)}" if value else found[0]


def _abbreviation(found: "re.Match[str]") -> str:
    """At the end of a sentence the full stop is the sentence's, too."""
    said = _ABBREVIATIONS[found["short"]]
    ends = found["short"].endswith(".") and not found.string[found.end() :].strip("\"')”’ ")
    return said + ("." if ends else "")


ABBREVIATED = (
    Rule(rf"(?P<name>{_RULERS}) (?P<numeral>[IVXL]{{1,8}})(?![\w'’])", _ruler),
    Rule(rf"(?P<name>{_PARTS}) (?P<numeral>[IVXL]{{1,8}})(?![\w'’])", _part),
    Rule(r"St\.(?=\s[A-Z])(?<!\d St\.)(?<![a-z] St\.)", lambda found: "Saint"),
    Rule(r"(?:St|st)\.?(?=\s*(?:[,.]|$))", lambda found: "Street"),
    Rule(r"St\.", lambda found: "Street"),
    Rule(r"Dr\.(?=\s[A-Z])", lambda found: "Doctor"),
    Rule(r"Dr\.", lambda found: "Drive"),
    Rule(r"[Nn]o\. ?(?=\d)|#(?=\d)", lambda found: "number "),
    Rule(rf"(?P<short>{_ABBREVIATION})(?!\w)", _abbreviation),
    Rule(rf"(?P<capitals>{'|'.join(_CAPITALS)})(?![\w])", lambda found: _CAPITALS[found["capitals"]]),
)
SYMBOLS = (
    Rule(r"~(?=\s?[\d$€£])", lambda found: "about "),
    Rule(r"√(?=\d)", lambda found: "the square root of ", inside=True),
    Rule(r"(?<=\w)²", lambda found: " squared", inside=True),
    Rule(r"(?<=\w)³", lambda found: " cubed", inside=True),
    Rule(r"(?<=the )WHO(?!\w)", lambda found: "W H O"),
    Rule(r"\^(?=\s?[\w(])", lambda found: " to the power of ", inside=True),
    Rule(r"(?<=\d)\*(?=\d)|(?<=\d )\*(?= \d)", lambda found: " times ", inside=True),
    Rule(r"(?<=\d )[-−](?= \d)", lambda found: " minus ", inside=True),
    Rule(r"(?<=and)/(?=or)", lambda found: " ", inside=True),
    Rule(r"\|", lambda found: ",", inside=True),
    Rule(r"(?<=\d)\+(?!\w)", lambda found: " plus", inside=True),
    Rule(r"<br\s?/?>", lambda found: ", ", inside=True),
    Rule(r"(?<=[\d%Mm])[–—](?=[$€£]?\d)", lambda found: " to ", inside=True),
    Rule(r"(?<=C)#(?!\d)", lambda found: " sharp", inside=True),
    Rule(r"(?<=[^\W\d])[/](?=[^\W\d])", lambda found: " or ", inside=True),
    Rule(r"(?<=\w)_(?=\w)", lambda found: " ", inside=True),
    Rule(rf"(?P<symbol>{_SYMBOL})", lambda found: f" {_SYMBOLS[found['symbol']]} ", inside=True),
)
