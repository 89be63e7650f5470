"""Normalises the spelling of different recognisers. Pure."""

import re

LONGEST_READ = 600
"""Characters read from the end of a text, where the request usually is."""
_INSIDE_NUMBER = re.compile(r"(?<=\d)[.,:](?=\d)")
_MARKS = re.compile(r"[^\w'·$£€¥%+*/-]+")
_END = re.compile(r"[.!?]+(?:\s+|$)")


def plain(text: str) -> str:
    """The words in lower case, without punctuation except that of numbers and currencies."""
    lower = text[-LONGEST_READ:].casefold().replace("’", "'")
    lower = _INSIDE_NUMBER.sub("·", lower)
    return " ".join(_MARKS.sub(" ", lower).replace("·", ".").split())


def last_sentence(text: str) -> str:
    """The last sentence of a text, as `plain` spells it."""
    sentences = [sentence for sentence in _END.split(text[-LONGEST_READ:]) if sentence.strip()]
    return plain(sentences[-1]) if sentences else ""
