"""Compares two transcripts of the same speech: whether the second has other words that matter. Pure.

Spelling, punctuation, figures or words for numbers, contractions, inflection, articles, fillers and other short words
do not matter. Numbers, negations, names and all other content words do.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from voice.language import Language
from voice.tts.reading.reading import speech

LONGEST = 1000
"""The most characters that are compared, which takes up to 40 ms. A transcript of a minute has fewer."""
LEAST_STEM = 4
"""Letters that inflection leaves of a word, so that "needs" is "need", and "bed" is no form of "be"."""


@dataclass(frozen=True, slots=True)
class ChangedWords:
    """The words that differ, in lower case and with numbers in words; several places are separated by commas."""

    before: str
    after: str


_TIMES = re.compile(r"(?<=\d)\s*[x×*]\s*(?=\d)", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_CONTRACTED: Mapping[Language, Sequence[tuple[re.Pattern[str], str]]] = {
    "en": tuple(
        (re.compile(pattern), full)
        for pattern, full in (
            (r"\bwon't\b", "will not"),
            (r"\bshan't\b", "shall not"),
            (r"\bcan'?t\b|\bcannot\b", "can not"),
            (r"n't\b", " not"),
            (r"'(?:s|re|m|ve|ll|d)\b", ""),
            (r"\b(what|where|how|who|when|that)s\b", r"\1"),
            (r"\bgonna\b", "going to"),
            (r"\bwanna\b", "want to"),
            (r"\b(?:a|one) (?=(?:hundred|thousand|million|billion|half|dozen)\b)", ""),
            (r"(?<=hundred|housand|million) and\b", ""),
        )
    ),
    "de": tuple(
        (re.compile(pattern), full)
        for pattern, full in (
            (r"(?<=\w)'s\b", ""),
            (r"\b(geht|gibt|ist|wird|hab)s\b", r"\1"),
            (r"\b(?:ein)?(?=(?:hundert|tausend))", ""),
            (r"\b(?:zum|zur)\b", "zu"),
            (r"\b(?:im|ins)\b", "in"),
            (r"\b(?:am|ans)\b", "an"),
            (r"\b(?:vom)\b", "von"),
        )
    ),
}
"""What is written in short, with its full form; verbs after an apostrophe are short words anyway."""
_SHORT: Mapping[Language, frozenset[str]] = {
    "en": frozenset(
        (
            "a", "an", "the", "um", "uh", "uhm", "umm", "er", "erm", "ah", "eh", "hm", "hmm", "mm", "mhm", "oh", "huh",
            "well", "so", "okay", "ok", "just", "please", "like", "and", "then", "also", "too", "to", "of", "in", "on",
            "at", "for", "by", "with", "is", "are", "was", "were", "be", "am", "been", "do", "does", "did", "has",
            "have", "had", "will", "would", "could", "can", "shall", "should", "i", "you", "he", "she", "it", "we",
            "they", "me", "him", "her", "us", "them", "my", "your", "his", "its", "our", "their", "this", "that",
            "these", "those", "there", "as", "if", "hey", "there",
        )
    ),
    "de": frozenset(
        (
            "der", "die", "das", "den", "dem", "des", "ein", "eine", "einen", "einem", "einer", "eines", "äh", "ähm",
            "öh", "hm", "hmm", "mm", "mhm", "ach", "oh", "na", "ja", "also", "so", "okay", "ok", "mal", "bitte", "und",
            "dann", "auch", "zu", "von", "in", "an", "auf", "um", "bei", "mit", "für", "ist", "sind", "war", "waren",
            "sein", "bin", "wird", "werden", "hat", "haben", "habe", "hatte", "würde", "kann", "können", "könnte",
            "soll", "ich", "du", "er", "sie", "es", "wir", "ihr", "mich", "mir", "dich", "dir", "ihm", "ihn", "uns",
            "mein", "meine", "meinen", "dein", "deine", "deinen", "ihre", "ihren", "dies", "diese", "dieser", "dieses",
            "dass", "wenn", "da", "hier", "denn", "doch", "gerade", "nun",
        )
    ),
}  # fmt: skip
"""Words that recognisers often mistake for each other, add or drop, and that seldom change a request. A word such as
"from" or "or" is none of them, so "to" heard as "from" matters."""
_SPELLINGS: Mapping[Language, Sequence[tuple[re.Pattern[str], str]]] = {
    "en": tuple(
        (re.compile(pattern), same)
        for pattern, same in (
            (r"(?<=\w\w)our\b", "or"),
            (r"(?<=\w\w)tre\b", "ter"),
            (r"(?<=\w\w)(i|y)s(e|ed|es|ing|ation)\b", r"\1z\2"),
            (r"\bgrey", "gray"),
            (r"(\w)\1", r"\1"),
        )
    ),
    "de": ((re.compile("ß"), "ss"), (re.compile(r"(\w)\1"), r"\1")),
}
_ENDINGS: Mapping[Language, re.Pattern[str]] = {
    "en": re.compile(r"(?:ed|s)$"),
    "de": re.compile(r"(?:en|em|er|es|e|n|s)$"),
}


def changed_words(before: str, after: str, language: Language = "en") -> ChangedWords | None:
    """The words that matter and that `after` has in place of `before`; None if the two mean the same.

    A text that is too long to be compared counts as the same.
    """
    if before == after or max(len(before), len(after)) > LONGEST:
        return None
    first, second = _words(before, language), _words(after, language)
    blocks = SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
    places = [
        (first[start:end], second[start_after:end_after])
        for kind, start, end, start_after, end_after in blocks
        if kind != "equal"
    ]
    found = [place for place in places if not _mean_the_same(*place, language)]
    if not found:
        return None
    was, now = (", ".join(" ".join(words) for words in side if words) for side in zip(*found, strict=True))
    return ChangedWords(was, now)


def _words(text: str, language: Language) -> list[str]:
    """The words as they are spoken, in lower case, without contractions."""
    spoken = speech(_TIMES.sub(" times ", text) if language == "en" else text, language=language)
    spoken = spoken.casefold() if language == "en" else spoken.lower()
    spoken = spoken.replace("’", "'").replace("-", " ")
    for short, full in _CONTRACTED[language]:
        spoken = short.sub(full, spoken)
    return _WORD.findall(spoken)


def _mean_the_same(first: Sequence[str], second: Sequence[str], language: Language) -> bool:
    if "".join(first) == "".join(second):
        return True
    left, right = (
        [_stem(word, language) for word in words if word not in _SHORT[language]] for words in (first, second)
    )
    return "".join(left) == "".join(right)


def _stem(word: str, language: Language) -> str:
    """The word in one spelling and without its ending."""
    for spelling, same in _SPELLINGS[language]:
        word = spelling.sub(same, word)
    stem = _ENDINGS[language].sub("", word)
    return stem if len(stem) >= LEAST_STEM else word
