"""What words said during an answer mean for the answer, in English. Pure."""

import re
from collections.abc import Callable
from enum import StrEnum

from voice.turns.evidence import ANSWERS
from voice.turns.overlap.likeness import likeness
from voice.turns.words.agent_question import Asked
from voice.turns.words.lead_in import lead_in


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

_BACKCHANNELS = (
    "yes", "yeah", "yep", "yup", "ya", "okay", "ok", "right", "alright", "all right", "sure", "correct", "exactly",
    "absolutely", "definitely", "true", "indeed", "of course", "i see", "i know", "i get it", "got it", "gotcha",
    "makes sense", "sounds good", "that's right", "that is right", "that's true", "good", "great", "nice", "cool",
    "fine", "perfect", "wonderful", "wow", "really", "oh really", "no way", "no kidding", "interesting", "thanks",
    "thank you", "uh huh", "mm hmm", "mhm", "mm", "mmm", "hm", "hmm", "hmmm", "huh", "ha", "haha", "ah", "aha", "oh",
    "uh", "um", "uhm", "er", "erm", "eh", "aw", "ooh", "and", "so", "then",
)  # fmt: skip
"""Said while listening; "and", "so" and "then" only lead on to more."""
_STOPS = (
    "stop", "wait", "no", "nope", "hold on", "hang on", "hold it", "never mind", "nevermind", "forget it", "cancel",
    "enough", "that's enough", "that is enough", "that will do", "quiet", "be quiet", "shut up", "pause", "silence",
    "excuse me", "sorry", "pardon", "actually", "listen", "hey", "hello", "one moment", "one second", "just a second",
    "just a moment", "just a minute", "wrong", "that's wrong", "that's not", "that is not", "not that", "i said",
    "i meant", "i mean", "skip", "next", "repeat", "go back", "say that again", "again", "what was that", "help",
    "goodbye", "bye bye", "let me", "can i", "may i", "i don't", "don't", "instead", "rather",
)  # fmt: skip
"""What takes the floor from a speaker, and what begins a correction."""
LAUGHTER = 3
"""How often the same word in a row is laughter, which recognisers spell as words ("love love love")."""


def _starts_with(phrases: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("(?:" + "|".join(sorted(map(re.escape, phrases), key=len, reverse=True)) + r")(?!\S)\s*")


_OTHER_SPELLINGS = frozenset(("ok", "nevermind"))
SAID_OVER_ANSWERS = tuple(one for one in (*_BACKCHANNELS, *_STOPS) if one not in _OTHER_SPELLINGS)
"""What a recogniser may expect to hear during an answer, in one spelling."""

_BACKCHANNEL, _STOP = _starts_with(_BACKCHANNELS), _starts_with(_STOPS)


def meaning_of(
    text: str,
    *,
    final: bool = True,
    asked: Asked | None = None,
    whole_request: Callable[[str], bool | None] | None = None,
    is_own: Callable[[str], bool] | None = None,
) -> Meaning:
    """What `text`, in any recogniser's spelling, means for the answer it is said over.

    Args:
        text: the words so far.
        final: whether no others follow; else the last word may still become another one.
        asked: what the agent asks for in the sentence that it is speaking; None when it asks nothing.
        whole_request: whether words are a whole request for the agent; None if it cannot tell.
        is_own: whether words are the agent's own, heard through the microphone; None where nothing tells.
    """
    words = " ".join(re.findall(r"[a-z0-9']+", text.lower().replace("’", "'").replace("-", " ")))
    if not words:
        return Meaning.NOTHING
    if is_own is not None and is_own(words):
        return Meaning.OWN
    if asked is not None and lead_in(text) in ANSWERS.get(asked, ()):
        return Meaning.ANSWER
    rest = words
    while said := _BACKCHANNEL.match(rest):
        rest = rest[said.end() :]
    if not rest:
        return Meaning.BACKCHANNEL
    if _STOP.match(rest):
        return Meaning.STOP
    if _laughs(rest):
        return Meaning.NOTHING
    if whole_request is not None and whole_request(words):
        return Meaning.REQUEST
    listens, interrupts = likeness(rest, _BACKCHANNELS, begun=not final), likeness(words, _STOPS)
    if listens > interrupts:
        return Meaning.BACKCHANNEL
    if not final:
        # "Okay by" may become "okay right", and one word may be the beginning of laughter.
        before = words.rpartition(" ")[0]
        return meaning_of(before, is_own=is_own) if before else Meaning.NOTHING
    return Meaning.STOP if interrupts else Meaning.WORDS


def _laughs(words: str) -> bool:
    last = words.split()[-LAUGHTER:]
    return len(last) == LAUGHTER and len(set(last)) == 1
