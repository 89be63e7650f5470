"""What two drafts of an answer must have in common to agree: numbers, days, yes or no, and tool calls. Pure.

Words that say the same in another way are not compared; two drafts without any such fact agree.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from voice.llm.routing.plain_words import plain

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


def facts_of(text: str) -> Facts:
    """The facts that a draft states."""
    words = plain(text)
    found = {str(float(number)) if _is_float(number) else number for number in _numbers(text)}
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
    """The tools that a draft calls, and with what."""
    return frozenset(f"{name}({json.dumps(arguments, sort_keys=True, default=str)})" for name, arguments in calls)


def _numbers(text: str) -> list[str]:
    return _NUMBER.findall(_THOUSANDS.sub("", text))


def _is_float(text: str) -> bool:
    return re.fullmatch(r"-?\d+(?:\.\d+)?", text) is not None
