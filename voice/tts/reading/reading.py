"""Reads written text aloud: finds the spoken form of each written word. Pure.

Only synthesis uses the spoken forms; the written words are displayed, recorded and kept in the conversation.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from anyascii import anyascii

from voice.language.english import reading as english
from voice.language.english.reading.amounts import anglicised
from voice.language.german import reading as german
from voice.language.reading import Rule
from voice.tts.reading.plain import plain

_FOREIGN = Rule(
    r"[\u0370-\u1dff\u2e80-\ud7ff\uf900-\ufaff\ufb1d-\ufdff\ufe70-\ufefc\U00020000-\U0003ffff]+",
    lambda found: anyascii(found[0]).capitalize() if found[0][0].isupper() else anyascii(found[0]).lower(),
    inside=True,
)
"""Words in other scripts, which a voice would spell or call "Chinese letter"."""
RULES: Mapping[str, Sequence[Rule]] = {"en": (*english.RULES, _FOREIGN), "de": (*german.RULES, _FOREIGN)}
"""The rules by language, in order of preference for those that match at the same character."""
_WORD = re.compile(r"\S+")
_SPACES = re.compile(r"\s+")
_ATTACHED = frozenset(",.;:!?")
_DETACHED = re.compile(r"\s+(?=[,.;:!?])")


@dataclass(frozen=True, slots=True)
class SpokenWord:
    """A written word and its spoken form: nothing, the word itself, or several words."""

    written: str
    spoken: str


def read_aloud(text: str, *, language: str | None = "en") -> list[SpokenWord]:
    """The words of a sentence, each with its spoken form.

    If several written words are read together ("5:30 p.m.", "$5 million"), the spoken words are distributed among them
    in order.

    Args:
        text: the sentence.
        language: that of the voice; without rules for it, only markup is removed, and symbols stay.
    """
    rules = RULES.get(language or "", ())
    read = plain(text)
    spans = [(found.start(), found.end()) for found in _WORD.finditer(text)]
    said = [""] * len(spans)
    of_char = _owners(spans, len(text))
    for start, end, spoken in _pieces(anglicised(read.text) if language == "en" else read.text, rules):
        _share(spoken, list(dict.fromkeys(of_char[read.origins[at]] for at in range(start, end))), said)
    said = [_tidy(spoken) if rules else spoken.strip() for spoken in said]
    for at, spoken in enumerate(said):
        # Punctuation belongs to the word before it if the text between them is not spoken.
        if (
            rules
            and spoken in _ATTACHED
            and (before := next((to for to in range(at - 1, -1, -1) if said[to]), None)) is not None
        ):
            said[before], said[at] = said[before] + ("" if said[before][-1] in _ATTACHED else spoken), ""
    return [SpokenWord(text[start:end], spoken) for (start, end), spoken in zip(spans, said, strict=True)]


def speech(text: str, *, language: str | None = "en") -> str:
    """The spoken form of a sentence, as one text."""
    return " ".join(word.spoken for word in read_aloud(text, language=language) if word.spoken)


def _owners(spans: list[tuple[int, int]], length: int) -> list[int]:
    """The word of each character; white space belongs to the word before it."""
    owners: list[int] = []
    for word, (start, _) in enumerate(spans):
        owners += [max(word - 1, 0)] * (start - len(owners))
    return owners + [max(len(spans) - 1, 0)] * (length - len(owners))


def _pieces(text: str, rules: Sequence[Rule]) -> list[tuple[int, int, str]]:
    """The text in pieces: the beginning, end and spoken form of each."""
    pieces, at = [], 0
    while at < len(text):
        found = None
        if not text[at].isspace() and not (text[at].isalpha() and at and text[at - 1].isalpha()):
            found = next(
                ((match, rule) for rule in rules if (match := rule.expression.match(text, at)) and match.end() > at),
                None,
            )
        if found is None:
            pieces.append((at, at + 1, text[at]))
            at += 1
            continue
        match, rule = found
        pieces.append((at, match.end(), rule.say(match)))
        at = match.end()
    return pieces


def _share(spoken: str, owners: list[int], said: list[str]) -> None:
    """Distribute the spoken form of a piece over the words that it covers."""
    if len(owners) == 1:
        said[owners[0]] += spoken
        return
    parts, count = spoken.split(), len(owners)
    for order, owner in enumerate(owners):
        first, last = order * len(parts) // count, (order + 1) * len(parts) // count
        said[owner] += " ".join(parts[first:last])


def _tidy(spoken: str) -> str:
    if not any(char.isalnum() for char in spoken):
        return spoken.strip() if spoken.strip() in (",", ".", "!", "?", ";", ":", "—", "–", "-", "…") else ""
    return _DETACHED.sub("", _SPACES.sub(" ", spoken)).strip()
