"""What words said during an answer mean for the answer. Pure."""

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
"""How alike words must be to a phrase, 0 to 1, for being that phrase misheard ("of core", "of course")."""
LEAST_LETTERS = 5
"""Letters from which a phrase can be recognised in other words: too many short words are alike."""
_OTHER_SPELLINGS = frozenset(("ok", "nevermind"))
SAID_OVER_ANSWERS = tuple(one for one in (*ENGLISH.backchannels, *ENGLISH.stops) if one not in _OTHER_SPELLINGS)
"""What a recogniser of English may expect to hear during an answer, in one spelling."""


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


class Meaning(StrEnum):
    """What the caller's words so far mean for the answer that they are said over."""

    NOTHING = "nothing"
    """There are no words, or none that are words: laughter."""
    BACKCHANNEL = "backchannel"
    """Nothing but assent ("yeah, right"), or words like it ("of core"): the caller listens."""
    OWN = "own words"
    """The agent's own voice, heard through the microphone."""
    WORDS = "words"
    """Other words: the longer they go on, the likelier the caller wants the floor."""
    STOP = "stop"
    """They begin with what stops a speaker ("stop", "wait", "no"), or are like it ("gold on")."""
    ANSWER = "answer"
    """The answer to what the agent is just asking."""
    REQUEST = "request"
    """A whole request."""


TAKES_THE_FLOOR = frozenset({Meaning.STOP, Meaning.ANSWER})
"""Meanings that interrupt however short the words are."""


def meaning_of(
    text: str,
    *,
    final: bool = True,
    asked: Asked | None = None,
    whole_request: Callable[[str], bool | None] | None = None,
    is_own: Callable[[str], bool] | None = None,
    language: TurnWords = ENGLISH,
) -> Meaning:
    """What `text`, in any recogniser's spelling, means for the answer it is said over.

    Args:
        text: the words so far.
        final: whether no others follow; else the last word may still become another one.
        asked: what the agent asks for in the sentence that it is speaking; None when it asks nothing.
        whole_request: whether words are a whole request for the agent; None if it cannot tell.
        is_own: whether words are the agent's own, heard through the microphone; None where nothing tells.
        language: the words of the language that is spoken.
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
        likeness(rest, language.backchannels, begun=not final),
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
    """What begins with a backchannel, and what with a stop."""
    return _starts_with(language.backchannels), _starts_with(language.stops)


def _starts_with(phrases: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?:{alternatives(phrases)})(?!\S)\s*")
