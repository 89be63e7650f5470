"""Whether a caller says goodbye. Pure."""

import re
from functools import cache

from voice.language.english.turns import ENGLISH
from voice.language.turn_words import TurnWords

MOST_WORDS = 12
"""A longer text is no mere farewell."""


def is_farewell(text: str, language: TurnWords = ENGLISH) -> bool:
    """Whether `text` is a farewell and nothing else: "okay, thanks, bye", but not "say goodbye to her"."""
    words = re.sub(r"[^\w\s']", " ", text.lower().replace("’", "'")).split()
    return 0 < len(words) <= MOST_WORDS and _farewell(language).fullmatch(" ".join(words)) is not None


@cache
def _farewell(language: TurnWords) -> re.Pattern[str]:
    said, around = language.farewell, language.around_farewell
    return re.compile(rf"(?:(?:{around}) )*(?:{said})(?: (?:{said}|{around}))*")
