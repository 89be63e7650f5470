"""How alike misheard words are to a phrase, by their letters. Pure."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache

ALIKE = 0.7
"""How alike words must be to a phrase, 0 to 1, for being that phrase misheard ("of core", "of course")."""
LEAST_LETTERS = 5
"""Letters from which a phrase can be recognised in other words: too many short words are alike."""


@lru_cache(maxsize=512)
def likeness(words: str, phrases: Sequence[str], *, begun: bool = False) -> float:
    """How alike words are to the most alike of the phrases, 0 to 1; 0 unless they are `ALIKE`.

    Args:
        words: what a recogniser made of a stretch of speech, lower case.
        phrases: hashable; those with less than `LEAST_LETTERS` are left out.
        begun: whether more words may follow, so that words are also alike if they are to the beginning of a phrase.
    """
    best, matcher = 0.0, SequenceMatcher(b=words, autojunk=False)
    for phrase in phrases:
        part = phrase[: len(words) + 1] if begun else phrase
        if min(len(part), len(words)) < LEAST_LETTERS:
            continue
        matcher.set_seq1(part)
        least = max(best, ALIKE)
        if matcher.real_quick_ratio() >= least and matcher.quick_ratio() >= least:
            best = max(best, matcher.ratio())
    return best if best >= ALIKE else 0.0
