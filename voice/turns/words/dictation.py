"""Counts the digits and letters with which words end: numbers and spellings are said in groups, with pauses between."""

import re

from voice.language.english.turns import ENGLISH
from voice.language.turn_words import TurnWords

_WORD = re.compile(r"[a-z'äöüß]+|\d")


def symbols_at_end(text: str, language: TurnWords = ENGLISH) -> int:
    """How many digits and letters, said one by one, `text` ends with; each digit of a written figure counts.

    Args:
        text: the words.
        language: those of the language that is spoken.
    """
    words = _WORD.findall(language.as_in.sub(r"\1", text.lower()))
    count = 0
    for word in reversed(words):
        if word in language.digits or len(word) == 1:
            count += 1
        elif not language.in_numbers.fullmatch(word):
            break
    return count
