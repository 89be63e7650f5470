"""Filler phrases while no answer is ready: short, true, and never an answer.

A phrase may only say that the answer is being worked on. It may not agree, deny, promise, name a result or claim that
something is being looked up, because none of that is known yet.
"""

import re
from collections.abc import Sequence

from latency.record.llm.answer import PhraseKind
from voice.errors import ConfigurationError
from voice.llm.answer.clauses import has_words

HOLD = ("One moment.", "Let me think.", "Just a second.", "Give me a moment.")
"""Said when the budget is spent; true while any request still runs."""
DELAY = ("Sorry, this is taking longer than usual.", "I'm still thinking, sorry for the wait.")
"""Said by 2.5 s, so that the user knows that the agent is still working."""
OPENINGS = (
    "Let me think about that.",
    "Let me work that out.",
    "Good question, let me see.",
    "Let me think it through.",
)
"""Said as the opening of an answer when the words that a tier gave for one may not be spoken."""
PROGRESS = ("I am working on it.", "I am still working on it.")
"""Said while a tool runs."""
NOT_ANSWERING = "Sorry, I can't get an answer right now. Please ask me again."
"""Said instead of an answer when no tier answers."""
BROKE_OFF = "Sorry, I lost the rest of my answer."
"""Said when an answer cannot be finished."""
MOST_WORDS = 9
"""Words that a phrase may have."""

# What only an answer may say; the first word that matches is named in the error.
_CLAIMS = re.compile(
    r"\b(yes|yeah|no|nope|sure|okay|ok|right|correct|of course|certainly|absolutely|checking|looking|searching|"
    r"found|find|booked|booking|done|sent|sending|called|calling|will|'ll|promise|because|is that|actually)\b|\d",
    re.IGNORECASE,
)


def check_phrase(phrase: str) -> str:
    """The phrase, stripped, if it claims nothing.

    Raises:
        ConfigurationError: it is empty, too long, or says what only an answer may say.
    """
    text = phrase.strip()
    if not text:
        raise ConfigurationError("A hold phrase is empty; write a short sentence such as “One moment.”")
    if not has_words(text):
        raise ConfigurationError(
            f"The hold phrase “{text}” has no words, so nothing would be heard; write one such as “One moment.”"
        )
    if len(text.split()) > MOST_WORDS:
        raise ConfigurationError(f"The hold phrase “{text}” has more than {MOST_WORDS} words; it must be short.")
    if claim := _CLAIMS.search(text):
        raise ConfigurationError(
            f"The hold phrase “{text}” claims something (“{claim.group()}”) before there is an answer; "
            "it may only say that one is being worked on."
        )
    return text


class Bridging:
    """The phrases of one call in rotation, so that none is heard twice in a row.

    Args:
        hold: phrases for a spent budget; the usual ones by default.
        start: the position of the first phrase, so that calls can begin with different ones.

    Raises:
        ConfigurationError: no phrase, or one that `check_phrase` refuses.
    """

    def __init__(self, hold: Sequence[str] = HOLD, *, start: int = 0) -> None:
        if not hold:
            raise ConfigurationError("There must be a hold phrase; leave the setting out for the usual ones.")
        self._phrases: dict[PhraseKind, tuple[str, ...]] = {
            "hold": tuple(check_phrase(phrase) for phrase in hold),
            "delay": DELAY,
            "opening": OPENINGS,
            "progress": PROGRESS,
        }
        self._next = dict.fromkeys(self._phrases, start)

    @property
    def phrases(self) -> tuple[str, ...]:
        """All of them, to be synthesised before the call."""
        return tuple(phrase for phrases in self._phrases.values() for phrase in phrases)

    def progress(self, *, again: bool) -> str:
        """What is said while a tool runs, first or after that."""
        return PROGRESS[again]

    def phrase(self, kind: PhraseKind) -> str:
        """The next phrase of its kind."""
        phrases = self._phrases[kind]
        position, self._next[kind] = self._next[kind], self._next[kind] + 1
        return phrases[position % len(phrases)]
