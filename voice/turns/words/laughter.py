"""Recognises laughter and descriptions of sounds ("(coughs)") in transcripts; neither is speech. Pure."""

import re
from functools import cache

from voice.language.english.turns import ENGLISH
from voice.language.turn_words import TurnWords, alternatives, words_of

REPEATED = 3
"""Repetitions of a word that count as laughter, which recognisers may spell as words ("love love love")."""
_ASIDE = re.compile(r"\([^()]*\)|\[[^][]*\]|\*[^*]*\*|[♪♫]+")


def is_laughter(text: str, language: TurnWords = ENGLISH) -> bool:
    """Whether `text` is nothing but laughter or descriptions of sounds: "huh huh huh", "haha", "(coughs)".

    A single syllable is not laughter ("huh?"), nor is assent ("uh huh, uh huh").

    Args:
        text: the words, in any recogniser's spelling.
        language: those of the spoken language.
    """
    said = _ASIDE.sub(" ", text)
    words = words_of(said)
    if not words:
        return said != text
    several, syllable = _patterns(language)
    parts = words.split()
    if not all(map(syllable.fullmatch, parts)):
        return False
    again = any(one == other for one, other in zip(parts, parts[1:], strict=False))
    return again or any(map(several.fullmatch, parts))


def without_laughter(text: str, language: TurnWords = ENGLISH) -> str:
    """The text without laughter or descriptions of sounds at its end; empty if there is nothing else.

    Args:
        text: the words.
        language: those of the spoken language.
    """
    said = _ASIDE.sub(" ", text)
    words = said.split()
    _, syllable = _patterns(language)
    count = len(words)
    while count and all(map(syllable.fullmatch, words_of(words[count - 1]).split())):
        count -= 1
    laughs = is_laughter(" ".join(words[count:]), language)
    return " ".join(words[:count] if laughs else words) if laughs or said != text else text


def ends_in_laughter(words: str, language: TurnWords = ENGLISH) -> bool:
    """Whether words over an answer are laughter so far, spelled as a repeated word or as laughter."""
    last = words.split()[-REPEATED:]
    return (len(last) == REPEATED and len(set(last)) == 1) or is_laughter(words, language)


@cache
def _patterns(language: TurnWords) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Patterns for a laughter word of several syllables, and of any number."""
    one = rf"(?:{alternatives(language.laughter)})"
    return re.compile(rf"{one}{{2,}}"), re.compile(rf"{one}+")
