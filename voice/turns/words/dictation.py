"""Counts the digits and letters with which words end: numbers and spellings are said in groups, with pauses between."""

import re

_DIGITS = {"zero", "oh", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}
_IN_NUMBERS = {
    "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
    "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety", "hundred", "double", "triple",
    "dash", "hyphen",
}  # fmt: skip
"""Words that belong to a number read aloud, without being single digits."""
_WORD = re.compile(r"[a-z']+|\d")
_AS_IN = re.compile(r"\b([a-z]) (?:as in|like|for) [a-z]+")
"""A letter that is explained: "b as in bravo"."""


def symbols_at_end(text: str) -> int:
    """How many digits and letters, said one by one, `text` ends with; each digit of a written figure counts."""
    words = _WORD.findall(_AS_IN.sub(r"\1", text.lower()))
    count = 0
    for word in reversed(words):
        if word in _DIGITS or len(word) == 1:
            count += 1
        elif word not in _IN_NUMBERS:
            break
    return count
