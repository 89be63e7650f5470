"""Whether a dot ends a sentence or belongs to an abbreviation. Pure."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Literal

from voice.language import Language
from voice.language.by_language import ABBREVIATIONS

LOOKAHEAD = 32
"""Characters after a dot that always suffice to decide."""
_OPENERS = "\"'“‘([{*_„«"
_NEXT = re.compile(r"[\s\"'“‘([{*_]*(?P<word>[^\W_][\w'’]*)?(?P<dot>\.?)")
_Kind = Literal["leading", "name", "trailing"]


@cache
def _kinds(language: Language) -> Mapping[str, _Kind]:
    """The last word of each abbreviation that ends in a dot, in all its written forms."""
    abbreviations = ABBREVIATIONS[language]
    tables: dict[_Kind, Mapping[str, str]] = {
        "leading": abbreviations.leading,
        "name": abbreviations.names,
        "trailing": abbreviations.trailing,
    }
    return {
        form: kind
        for kind, table in tables.items()
        for short in table
        if short.endswith(".")
        for last in short.split()[-1:]
        for form in ((last, last.lower(), last[0].upper() + last[1:]) if len(last) > 2 else (last,))
        if form not in abbreviations.words
    }


def dot_ends(before: str, after: str, *, language: Language = "en") -> bool | None:
    """Whether a dot ends a sentence; None if that depends on more than `after`.

    Args:
        before: the end of the text up to the dot, which is its last character.
        after: the text after it, from the white space on; empty if more is to come.
        language: that of the text.
    """
    known = ABBREVIATIONS[language]
    words = before.rsplit(maxsplit=1)
    whole = words[-1].lstrip(_OPENERS) if words else ""
    word = re.split(r"[-–/(]", whole)[-1]
    kind = _kinds(language).get(word)
    number = known.numbered is not None and word in ("no.", "No.") and known.numbered.search(before) is not None
    number = number or (word if len(word) == 2 else word.lower()) in known.before_numbers
    if known.amount and known.amount.search(before):
        number, kind = False, "trailing"
    if kind is None and known.name.fullmatch(whole):
        kind = "name"
    if kind is None and not number:
        return True
    if kind == "leading" and not number:
        return False
    found = _NEXT.match(after)
    assert found is not None  # it matches the empty text
    following = found["word"] or ""
    if number and following:
        return not following[0].isdigit()
    if following and not following[0].isupper():
        return False
    if found.end() == len(after) < LOOKAHEAD:
        return None
    if not following or found["dot"]:
        return number
    if kind == "trailing":
        return known.goes_on is None or not known.goes_on.fullmatch(following)
    return known.starters.fullmatch(re.split("['’]", following)[0]) is not None
