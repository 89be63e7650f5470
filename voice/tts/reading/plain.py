"""Plain text from written text: normalises characters and removes markup, and traces each character to its source."""

import html
import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache


class Traced:
    """A text, with the index of the written character behind each of its characters."""

    def __init__(self, text: str, origins: Sequence[int] | None = None) -> None:
        self.text = text
        self.origins = list(range(len(text)) if origins is None else origins)

    def sub(self, pattern: "re.Pattern[str]", new: "str | Callable[[re.Match[str]], str]" = "") -> "Traced":
        """Replace each match; a group named "kept" stays, and the rest of its match is removed."""
        text, origins, at = [], [], 0
        for found in pattern.finditer(self.text):
            start, end = found.span()
            text.append(self.text[at:start])
            origins += self.origins[at:start]
            if "kept" in pattern.groupindex and found["kept"] is not None:
                text.append(found["kept"])
                origins += self.origins[slice(*found.span("kept"))]
            else:
                made, done = new if isinstance(new, str) else new(found), 0
                text.append(made)
                # A generated word has a single source position, so that no two written words share it.
                for word in re.findall(r"\s+|\S+", made):
                    origins += [self.origins[start + (end - start) * done // len(made)]] * len(word)
                    done += len(word)
            at = end
        return Traced("".join((*text, self.text[at:])), origins + self.origins[at:])


# Compatibility forms that mean more than their decomposition.
_AS_THEY_ARE = frozenset("…″‴´¨¯¸")
_CHARACTERS = {"‐": "-", "−": "-", "﹣": "-", "‒": "–", "№": "No.", "：": ":", "\r": "\n"}


@cache
def _character(char: str) -> str:
    """The replacement of one character: nothing, itself, or its compatibility form (NFKC)."""
    if char == "\n" or char in _AS_THEY_ARE:
        return char
    category = unicodedata.category(char)
    if char.isspace():
        return _CHARACTERS.get(char, " ")
    if category == "Cf" or "\ufe00" <= char <= "\ufe0f":
        return ""
    if category[0] == "C":
        return " "
    if unicodedata.decomposition(char).startswith(("<super>", "<fraction>")):
        return char
    char = _CHARACTERS.get(char, char)
    return _CHARACTERS.get(char := unicodedata.normalize("NFKC", char), char)


_SPACES = "\u00a0\u202f\u2009"
_NOT_ASCII = re.compile(r"[^\x20-\x7e\n]")
_THOUSANDS = re.compile(rf"(?<=\d)(?:[{_SPACES}](?=\d{{3}}(?!\d))| (?=000(?!\d))|['’](?=\d{{3}}(?!\d)))")
_COMBINED = re.compile(r"\w[\u0300-\u036f]+")
_ENTITY = re.compile(r"&(?:#\d{1,6}|#[xX][0-9a-fA-F]{1,5}|[a-zA-Z][a-zA-Z0-9]{1,8});")
_RAISED = re.compile(r"(?<=[^\W\d_]{3})(?<!sin|cos|tan|log)[¹²³⁰⁴-⁹]+|(?<=[.,!?])[¹²³⁰⁴-⁹]+")
_POWER = re.compile(r"(?<=[\w)])(?![²³](?![⁰¹²³⁴-⁹]))[⁻]?[⁰¹²³⁴-⁹]+")
_DEGREE = re.compile(r"[º°]\s?(?=[CF]\b)|º(?!\w)")

_COMMANDS = {
    "times": "×", "cdot": "×", "div": "÷", "leq": "≤", "le": "≤", "geq": "≥", "ge": "≥", "neq": "≠", "ne": "≠",
    "approx": "≈", "pm": "±", "to": "→", "rightarrow": "→", "infty": "∞", "sqrt": "√", "ldots": "…", "quad": " ",
    "left": "", "right": "", "displaystyle": "", "circ": "°", "pi": "π", "sum": "∑", "int": "∫",
}  # fmt: skip
_BRACES = r"\{(?P<%s>[^{}]{0,80})\}"
_WRAPPED = re.compile(r"\\(?:boxed|text|textbf|mathrm|mathbf|mathbb|operatorname)\{(?P<kept>[^{}]{0,80})\}")
_FRACTION = re.compile(rf"\\[dt]?frac{_BRACES % 'above'}{_BRACES % 'below'}")
_ROOT = re.compile(rf"\\sqrt{_BRACES % 'of'}")
_EXPONENT = re.compile(r"\^(?:\{(?P<braced>[^{}]{1,20})\}|(?P<one>[23])(?!\d))")
_SUM = re.compile(r"\\(?P<name>sum|int)_\{(?P<low>[^{}]{1,20})\}\^\{?(?P<high>[^{}\s]{1,20})\}?")
_COMMAND = re.compile(
    rf"(?:\^\{{?(?=\\circ))?\\(?P<name>{'|'.join(sorted(_COMMANDS, key=len, reverse=True))})(?![a-zA-Z])"
)
_FORMULA = re.compile(
    r"\$\$(?P<display>[^$]{1,300})\$\$|\\\((?P<round>.{1,300}?)\\\)|\\\[(?P<square>.{1,300}?)\\\]"
    r"|(?<![\w$])\$(?=\S)(?P<inline>(?:[A-Za-z]|[^$\n]*[\\^_={])[^$\n]{0,200})(?<=\S)\$(?!\w)",
    re.DOTALL,
)

_CITATION = r"\[\^?\d{1,3}(?:\s?[,–-]\s?\d{1,3})*\]|【[^】]{0,60}】"
_ENTRY = re.compile(r"(?:(?<=^\d)|(?<=^\d\d))\)(?=\s)", re.MULTILINE)
_PRODUCT = re.compile(r"(?<=\b[a-z\d])\*(?=[a-z\d]\b)")
_MARKUP = (
    re.compile(r"!?\[(?P<kept>[^\[\]]{0,300})\]\((?:[^()\s]|\([^()\s]{0,100}\)){0,300}\)"),
    re.compile(r"^[ \t]*`{3,}[\w+-]{0,12}[ \t]*$", re.MULTILINE),
    re.compile(r"^\s{0,3}#{1,6}\s+", re.MULTILINE),
    re.compile(r"^\s{0,3}(?:>(?!\s?\d)\s?)+", re.MULTILINE),
    re.compile(r"^\s*[-*+•◦▪‣–](?:[ \t]+\[[ xX]\])?[ \t]+(?!\d+ =)", re.MULTILINE),
    re.compile(r"^\[[ xX]\]\s+", re.MULTILINE),
    re.compile(r"^[ \t]*(?:[-*_=][ \t]?){3,}[ \t]*$", re.MULTILINE),
    re.compile(rf"\s?\((?:see |cf\. )?(?:{_CITATION})\)|(?<![=(,:+])(?<![=(,:+]\s)(?<!\b[a-z])(?:{_CITATION})"),
    re.compile(r"(?<=\w)\(\)"),
    re.compile(r"\\[nt](?=\s|$)|\\(?=[^\w\s\\])"),
    re.compile(r"`{1,3}"),
    re.compile(r"(?<![\w*])\*(?P<kept>\d+)\*(?![\w*])"),
    re.compile(r"\*{2,3}(?=\d)|\*{1,3}(?=[^\s\d,.;:!?)])(?<!\d\*)|(?<=[^\s(])(?<!\s[*])\*{1,3}(?!\d)"),
    re.compile(r"(?<!\w)_{1,3}(?=\w)|(?<=[\w.!?])_{1,3}(?![\w(])"),
    re.compile(r"~~"),
    re.compile(r"^[ \t]*\|(?!\|)|(?<!\|)\|[ \t]*$", re.MULTILINE),
    re.compile(r"^[\s|:-]{3,}$", re.MULTILINE),
    re.compile(r"</?(?!br\b)[A-Za-z][A-Za-z0-9]{0,10}(?:\s[^<>]{0,200})?/?>"),
    re.compile(r"[<>](?=https?://)|(?<=[\w/])(?<!br)(?<!br/)>(?=\s|$)"),
    re.compile("[\U0001f000-\U0001faff\u2500-\u25ff\u2600-\u2664\u2666-\u27bf\u2b00-\u2bff\u20e3†‡]"),
)


def plain(text: str) -> Traced:
    """The readable part of a text, in normalised characters."""
    traced = Traced(text).sub(_THOUSANDS).sub(_ENTITY, lambda found: html.unescape(found[0]))
    if not traced.text.isascii():
        traced = traced.sub(_NOT_ASCII, lambda found: _character(found[0]))
        traced = traced.sub(_COMBINED, lambda found: unicodedata.normalize("NFC", found[0]))
        traced = traced.sub(_RAISED).sub(_POWER, lambda found: "^" + unicodedata.normalize("NFKC", found[0]))
        traced = traced.sub(_DEGREE, "°")
    elif not text.isprintable():
        traced = traced.sub(_NOT_ASCII, lambda found: _character(found[0]))
    if "\\" in traced.text or "$" in traced.text:
        traced = _without_latex(traced)
    traced = traced.sub(_ENTRY, ".").sub(_PRODUCT, "×")
    for pattern in _MARKUP:
        traced = traced.sub(pattern)
    return traced


def _without_latex(traced: Traced) -> Traced:
    traced = traced.sub(_FORMULA, lambda found: _formula(next(filter(None, found.groups()))))
    return _commands(traced)


def _commands(traced: Traced) -> Traced:
    for _ in range(3):
        traced = traced.sub(_WRAPPED).sub(_FRACTION, _fraction).sub(_ROOT, lambda found: f"√{found['of']}")
    return traced.sub(_COMMAND, lambda found: _COMMANDS[found["name"]])


def _formula(text: str) -> str:
    """The symbols of a formula: separate letters, no braces."""
    said = _SUM.sub(r"\\\g<name> \g<low> → \g<high>, ", text)
    said = _commands(Traced(said)).sub(_EXPONENT, _exponent).text
    said = re.sub(r"(?<=\w)\s*-\s*", " minus ", said)
    said = re.sub(r"\\([A-Za-z]+)", r" \1 ", re.sub(r"\\[,;:! ]", " ", said))
    said = re.sub(
        r"(?<![A-Za-z])[A-Za-z]{2,3}(?=[\^²³_])|(?<=\d)[A-Za-z]{2,3}(?![A-Za-z])",
        lambda found: " ".join(found[0]),
        said,
    )
    return re.sub(r"[{}_]", " ", said).strip()


def _exponent(found: "re.Match[str]") -> str:
    power = found["braced"] or found["one"]
    return {"2": "²", "3": "³"}.get(power, f"^{power}")


def _fraction(found: "re.Match[str]") -> str:
    above, below = found["above"], found["below"]
    return f"{above}/{below}" if above.isdigit() and below.isdigit() else f"{above} over {below}"
