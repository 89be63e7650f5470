"""What makes a draft unfit to be spoken, found without a model. Pure."""

import re
import unicodedata
from collections import Counter

from voice.llm.routing.plain_words import plain

MOST_WORDS = 120
"""About 45 s of speech at 160 words a minute: longer than a spoken answer should be."""
_REFUSAL = re.compile(
    r"(?:i'm |i am )?(?:sorry )?(?:but )?(?:i )?(?:can't|cannot|can not|am not able to|'m not able to|am unable to"
    r"|won't) (?:help|assist|answer|provide|do that|comply)|as an ai\b"
    r"|(?:i'm|i am) (?:just )?(?:an ai|a language model)"
)
_MARKUP = re.compile(
    r"```|\*\*|^\s*#{1,6} |^\s*[-*•] |^\s*\|.*\||</?[a-z][\w-]*(?: [^<>]*)?/?>|https?://|\[[^\]]+\]\([^)]+\)",
    re.M | re.I,
)
_CALL = re.compile(r'^\s*\{\s*"(?:name|tool|function|arguments|parameters)"|<\|?/?tool|<function', re.I)
_ENDS = re.compile(r"[.!?…:][\"'”’)\]]*\s*$|[。！？।؟]\s*$")  # noqa: RUF001


def fault_in(text: str, *, whole: bool, question: str = "") -> str | None:
    """What is wrong with a draft, as one clause; None when it may be spoken.

    Args:
        text: the draft so far.
        whole: whether it is finished; an unfinished one is not judged by its end.
        question: the caller's words, whose script the answer must share.
    """
    words = plain(text)
    if not words:
        return "it is empty" if whole else None
    if _CALL.search(text):
        return "it is a tool call written as text"
    if _MARKUP.search(text):
        return "it has markup"
    if _REFUSAL.match(words):
        return "it refuses"
    if len(text.split()) > MOST_WORDS:
        return f"it has more than {MOST_WORDS} words"
    asked, given = _script(question), _script(text)
    if asked is not None and given is not None and asked != given:
        return f"it is in {given} letters, and the caller speaks {asked}"
    if whole and not _ENDS.search(text):
        return "it breaks off"
    return None


def _script(text: str) -> str | None:
    """The script of most of its letters ("LATIN"); None for fewer than four letters."""
    names = Counter(unicodedata.name(letter, "?").split()[0] for letter in text[:400] if letter.isalpha())
    return names.most_common(1)[0][0].title() if names.total() > 3 else None
