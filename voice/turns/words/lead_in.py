"""Recognises lead-ins: words that are often said alone, and as often before a request ("hello", "okay", "wait")."""

import re
from functools import cache

from voice.language.english.turns import ENGLISH
from voice.language.turn_words import LeadIn, TurnWords, alternatives, words_of

_OPEN_END = re.compile(r"(?:[,;:–—-]|\.\.\.|…)\s*$")


def lead_in(text: str, language: TurnWords = ENGLISH) -> LeadIn | None:
    """What kind of lead-in `text` is, in any recogniser's spelling; None when it says more than a lead-in, or nothing.

    The last phrase decides: "yes" and "okay no" may answer, "yes and" does not. Neither do words after which the
    recogniser wrote a comma, a dash or dots.

    Args:
        text: the words.
        language: those of the language that is spoken.
    """
    words, (kinds, phrase) = words_of(text), _known(language)
    phrases = phrase.findall(words)
    if not phrases or " ".join(phrases) != words:
        return None
    last = kinds[phrases[-1]]
    if last == "joint" or _OPEN_END.search(text):
        return "joint"
    return "no" if last == "yes" and any(kinds[one] == "no" for one in phrases) else last


@cache
def _known(language: TurnWords) -> tuple[dict[str, LeadIn], re.Pattern[str]]:
    """The kind of each lead-in, and a pattern that finds them."""
    kinds = {phrase: kind for kind, phrases in language.lead_ins.items() for phrase in phrases}
    return kinds, re.compile(rf"(?<!\S)(?:{alternatives(kinds)})(?!\S)")
