"""Drafts of an answer: the sampling of several, their facts, and faults that make one unfit to be spoken. Pure.

Two drafts agree if they share their facts: numbers, days, yes or no, and tool calls. Wording is not compared; two
drafts without any such fact agree.
"""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from voice.llm.routing.plain_words import plain

TEMPERATURES = (0.3, 0.7, 1.0, 0.5)
"""Temperatures of the candidates after the first; the first uses its tier's settings, so that a model without a
temperature still answers. Anthropic takes at most 1. [A] No published figures: low enough for facts, and distinct from
each other."""
MOST_CANDIDATES = len(TEMPERATURES) + 1
"""The most candidates of an answer."""
MOST_WORDS = 120
"""The most words of a draft: about 45 s of speech at 160 words a minute, longer than a spoken answer should be."""
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

Facts = frozenset[str]
_NUMBER = re.compile(r"-?\d+(?:[.,:]\d+)*")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?:\D|$))")
_TEENS = {"thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19}
_UNITS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip
_TENS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
_SMALL: Mapping[str, int] = {**_UNITS, **_TEENS, **_TENS}
_DAYS = re.compile(
    r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|june|july|august|september|october"
    r"|november|december|today|tomorrow|yesterday|tonight)\b"
)
_YES = re.compile(r"(?:yes|yeah|yep|correct|right|sure|certainly|absolutely)\b")
_NO = re.compile(r"(?:no|nope|incorrect|wrong|unfortunately)\b")


@dataclass(frozen=True, slots=True)
class Sampling:
    """The sampling parameters of a request.

    Parameters:
        temperature: of the next token's distribution.
        seed: for servers that take one.
    """

    temperature: float
    seed: int


def sampling_of(candidate: int | None) -> Sampling | None:
    """The sampling of a candidate by its number from 0; None for the first, and for other requests."""
    return Sampling(TEMPERATURES[candidate - 1], seed=candidate) if candidate else None


def fault_in(text: str, *, whole: bool, question: str = "") -> str | None:
    """The fault in a draft, one clause; None if it may be spoken.

    Args:
        text: the draft so far.
        whole: whether it is finished; the end of an unfinished one is not judged.
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


def facts_of(text: str) -> Facts:
    """The facts that a draft states."""
    words = plain(text)
    found = {
        str(float(number)) if _is_float(number) else number for number in _NUMBER.findall(_THOUSANDS.sub("", text))
    }
    # "One" is as often a pronoun as a number.
    tens = None
    for word in words.replace("-", " ").split():
        value = _SMALL.get(word)
        if tens is not None:
            found.add(str(float(tens + value if value is not None and 0 < value < 10 else tens)))
            tens, value = None, None if value is not None and 0 < value < 10 else value
        if value is not None and value >= 20:
            tens = value
        elif value is not None and value != 1:
            found.add(str(float(value)))
    if tens is not None:
        found.add(str(float(tens)))
    found |= set(_DAYS.findall(words))
    if _YES.match(words):
        found.add("yes")
    elif _NO.match(words):
        found.add("no")
    return frozenset(found)


def facts_of_calls(calls: Sequence[tuple[str, Mapping[str, Any]]]) -> Facts:
    """The tools that a draft calls, with their arguments."""
    return frozenset(f"{name}({json.dumps(arguments, sort_keys=True, default=str)})" for name, arguments in calls)


def _is_float(text: str) -> bool:
    return re.fullmatch(r"-?\d+(?:\.\d+)?", text) is not None
