"""Finds the characters of Markdown and HTML that are not read aloud."""

import re

_MARKUP = (
    re.compile(r"^\s{0,3}#{1,6}\s+"),
    re.compile(r"^\s{0,3}(?:>\s?)+"),
    re.compile(r"^\s*[-*+•]\s+(?:\[[ xX]\]\s+)?"),
    re.compile(r"^\s*(?:[-*_]\s?){3,}\s*$"),
    re.compile(r"`{1,3}(?:[a-z]{1,12}$)?"),
    re.compile(r"\*{1,3}(?=\S)(?<!\d\*)|(?<=\S)\*{1,3}(?!\d)"),
    re.compile(r"(?<!\w)_{1,3}(?=\w)|(?<=[\w.!?])_{1,3}(?!\w)"),
    re.compile(r"~~"),
    re.compile(r"^\s*\|(?=\s)|(?<=\s)\|\s*$"),
    re.compile(r"^[\s|:-]{3,}$"),
    re.compile(r"</?(?!br\b)[A-Za-z][A-Za-z0-9]{0,10}(?:\s[^<>]{0,200})?/?>"),
    re.compile(r"\[\^?\d{1,3}\]"),
    re.compile(r"\\(?=[^\w\s])"),
    re.compile(r"[<>](?=https?://)|(?<=[\w/])(?<!br)>(?=\s|$)"),
)
_LINK = re.compile(r"!?\[(?P<text>[^\[\]]{0,300})\]\([^()\s]{0,300}\)")
_EMOJI = re.compile(
    "[\U0001f000-\U0001faff\U00002600-\U000027bf\U0000fe0e\U0000fe0f\U0000200d\U00002b00-\U00002bff\U000020e3]"
)


def silent(text: str) -> list[bool]:
    """For each character, whether it is markup."""
    marked = [False] * len(text)
    for found in _LINK.finditer(text):
        start, end = found.span("text")
        marked[found.start() : start] = [True] * (start - found.start())
        marked[end : found.end()] = [True] * (found.end() - end)
    for pattern in (*_MARKUP, _EMOJI):
        for found in pattern.finditer(text):
            marked[found.start() : found.end()] = [True] * (found.end() - found.start())
    return marked
