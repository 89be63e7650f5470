"""The meaning of words spoken over an answer. Pure.

The lists of backchannels and stops are in `voice.language.english.turns` and `voice.language.german.turns`.
"""

import re
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from enum import StrEnum
from functools import cache, lru_cache

from voice.language.english.turns import ENGLISH
from voice.language.turn_words import TurnWords, alternatives, words_of
from voice.turns.evidence import ANSWERS
from voice.turns.words.agent_question import Asked
from voice.turns.words.laughter import ends_in_laughter
from voice.turns.words.short_replies import answering

ALIKE = 0.7
"""The least likeness of words to a phrase, 0 to 1, to count as that phrase misheard ("of core", "of course")."""
LEAST_LETTERS = 5
"""The least letters of a phrase that can be recognised in misheard words: too many short words are alike."""
_OTHER_SPELLINGS = frozenset(("ok", "nevermind"))
SAID_OVER_ANSWERS = tuple(one for one in (*ENGLISH.backchannels, *ENGLISH.stops) if one not in _OTHER_SPELLINGS)
"""Phrases that an English recogniser may expect during an answer, in one spelling."""


@lru_cache(maxsize=512)
def likeness(words: str, phrases: Sequence[str], *, begun: bool = False) -> float:
    """The likeness of words to the most similar phrase, 0 to 1; 0 if below `ALIKE`.

    Args:
        words: the transcript of a stretch of speech, lower case.
        phrases: hashable; those with less than `LEAST_LETTERS` are left out.
        begun: whether more words may follow, so that the beginning of a phrase counts as well.
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


class Meaning(StrEnum):
    """The meaning of the caller's words so far for the answer under way."""

    NOTHING = "nothing"
    """No words, or only laughter."""
    BACKCHANNEL = "backchannel"
    """Nothing but assent ("yeah, right"), perhaps misheard ("of core"): the caller listens."""
    OWN = "own words"
    """The agent's own voice, heard through the microphone."""
    WORDS = "words"
    """Other words: the longer they go on, the more likely the caller wants the floor."""
    STOP = "stop"
    """They begin with a word that stops a speaker ("stop", "wait", "no"), perhaps misheard ("gold on")."""
    ANSWER = "answer"
    """The answer to the question that the agent is asking."""
    REQUEST = "request"
    """A whole request."""


TAKES_THE_FLOOR = frozenset({Meaning.STOP, Meaning.ANSWER})
"""Meanings that interrupt, however short the words are."""


def meaning_of(
    text: str,
    *,
    final: bool = True,
    asked: Asked | None = None,
    whole_request: Callable[[str], bool | None] | None = None,
    is_own: Callable[[str], bool] | None = None,
    language: TurnWords = ENGLISH,
) -> Meaning:
    """The meaning of `text`, in any recogniser's spelling, for the answer under way.

    Args:
        text: the words so far.
        final: whether no others follow; otherwise the last word may still change.
        asked: the kind of answer that the agent's present sentence asks for; None if it asks nothing.
        whole_request: whether words are a whole request for the agent; None if it cannot tell.
        is_own: whether words are the agent's own, heard through the microphone; None without such a check.
        language: the words of the spoken language.
    """
    words, (backchannel, stop) = words_of(text), _patterns(language)
    if not words:
        return Meaning.NOTHING
    if is_own is not None and is_own(words):
        return Meaning.OWN
    if asked is not None and answering(text, asked, language) in ANSWERS.get(asked, ()):
        return Meaning.ANSWER
    rest = words
    while said := backchannel.match(rest):
        rest = rest[said.end() :]
    if not rest:
        return Meaning.BACKCHANNEL
    if stop.match(rest):
        return Meaning.STOP
    if ends_in_laughter(rest, language):
        return Meaning.NOTHING
    if whole_request is not None and whole_request(words):
        return Meaning.REQUEST
    listens, interrupts = (
        # "Not wait" is more likely a misheard "but wait" than "no way".
        0.0 if _stop_within(language).search(rest) else likeness(rest, language.backchannels, begun=not final),
        likeness(words, language.stops),
    )
    if listens > interrupts:
        return Meaning.BACKCHANNEL
    if not final:
        # "Okay by" may become "okay right", and one word may be the beginning of laughter.
        before = words.rpartition(" ")[0]
        return meaning_of(before, is_own=is_own, language=language) if before else Meaning.NOTHING
    return Meaning.STOP if interrupts else Meaning.WORDS


@cache
def _patterns(language: TurnWords) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Patterns for texts that begin with a backchannel, and with a stop."""
    return _starts_with(language.backchannels), _starts_with(language.stops)


@cache
def _stop_within(language: TurnWords) -> re.Pattern[str]:
    """A pattern for texts with a stop after other words."""
    return re.compile(rf"(?<!\S)(?:{alternatives(language.stops)})(?!\S)")


def _starts_with(phrases: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?:{alternatives(phrases)})(?!\S)\s*")
