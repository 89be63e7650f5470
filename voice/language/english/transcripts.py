"""Brings the transcripts of all recognisers into one form: lower-case words, each followed by one space."""

import re

_SYMBOLS = [
    (re.compile(r"[’`´]"), "'"),
    (re.compile(r"(\d),(?=\d{3}\b)"), r"\1"),
    (re.compile(r"(?<=\d)\s*[×*]\s*(?=[\d(√-])"), " times "),
    (re.compile(r"(?<=\d)\s*x\s*(?=\d)"), " times "),
    (re.compile(r"(?<=\d)\s*[÷/]\s*(?=[\d√-])"), " divided by "),
    (re.compile(r"(?<=\d)\s*\+\s*(?=[\d√-])"), " plus "),
    (re.compile(r"(?<=\d)\s*[-−–]\s*(?=\d)"), " minus "),
    (re.compile(r"(?<![\w.])[-−–]\s*(?=\.?\d)"), "minus "),
    (re.compile(r"(?<!\d)\.(?=\d)"), "0."),
    (re.compile(r"√"), " square root of "),
    (re.compile(r"²"), " squared "),
    (re.compile(r"%"), " percent "),
    (re.compile(r"½"), " one half "),
    (re.compile(r"°\s*c\b"), " degrees celsius "),
    (re.compile(r"°\s*f\b"), " degrees fahrenheit "),
    (re.compile(r"°"), " degrees "),
    (re.compile(r"(?<=\d)(?=[a-z])|(?<=[a-z])-(?=[a-z\d])|(?<=\d)-(?=[a-z])"), " "),
    # A decimal point stays; all other punctuation is removed.
    (re.compile(r"(?<!\d)\.|\.(?!\d)|[^\w\s.']"), " "),
    (re.compile(r"(?<!\w)'|'(?!\w)"), " "),
]
MOST_CHARACTERS = 1000
"""The most characters of a request. A client may send a longer text, which must not delay other calls."""
_CANCEL = re.compile(r"^\s*cancell?ed (?=(?:the|my|that|all) )")
"""Whisper's hearing of "cancel the"; nothing else begins like this."""
_CONTRACTIONS = re.compile(r"\b(what|how|where|who|when)'?s ")
_SPELLINGS = {
    "per cent": "percent",
    "good bye": "goodbye",
    "good by": "goodbye",
    "buy buy": "bye bye",
    "by by": "bye bye",
    "celcius": "celsius",
    "centigrade": "celsius",
    "kilometres": "kilometers",
    "kilometre": "kilometer",
    "metres": "meters",
    "metre": "meter",
    "centimetres": "centimeters",
    "centimetre": "centimeter",
    "millimetres": "millimeters",
    "millimetre": "millimeter",
    "litres": "liters",
    "litre": "liter",
    "millilitres": "milliliters",
    "millilitre": "milliliter",
    "devided": "divided",
    "gonna": "going to",
    "wanna": "want to",
    "kyiv": "kiev",
}
_SPELLING = re.compile(r"\b(?:" + "|".join(sorted(_SPELLINGS, key=len, reverse=True)) + r")\b")
_HESITATIONS = frozenset((
    "um", "uh", "uhm", "umm", "er", "erm", "ah", "hm", "hmm", "mm", "mhm",
))  # fmt: skip


def normalise(text: str) -> str:
    """Lower-case words, each followed by one space; arithmetic symbols become words, hesitations are removed.

    Empty for a text that is too long to be a request.
    """
    if len(text) > MOST_CHARACTERS:
        return ""
    text = text.lower()
    for pattern, meaning in _SYMBOLS:
        text = pattern.sub(meaning, text)
    text = "".join(word + " " for word in text.split() if word not in _HESITATIONS)
    text = _CANCEL.sub("cancel ", text)
    text = _CONTRACTIONS.sub(r"\1 is ", text)
    return _SPELLING.sub(lambda found: _SPELLINGS[found.group()], text)
