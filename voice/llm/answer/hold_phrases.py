"""Filler phrases while no answer is ready, and their timing: short, true, and never an answer.

A phrase may only say that the answer is being worked on. It may not agree, deny, promise, name a result or claim to
look something up, since none of that is known yet. `voice.llm.tools.running` times the phrases during a tool.
"""

import re
from collections.abc import Sequence

from latency.record.requests import PhraseKind
from voice.errors import ConfigurationError
from voice.language import Language
from voice.language.by_language import PHRASES
from voice.llm.answer.clauses import has_words

HOLD_GUARD = 0.02
"""Seconds before the deadline at which the wait for an answer ends, since the event loop may run late."""
DELAY_AFTER = 2.45
"""Seconds from the commit to the sentence that admits a delay, so that it is said by 2.5 s."""
PHRASE_LASTS = 1.0
"""Seconds that a hold phrase and the pause after it last: an answer that is expected sooner is awaited in silence."""
LONGEST_SILENCE = 0.8
"""Seconds after the deadline at which a phrase is said even if an answer is expected at any moment."""
HOLD_AGAIN = 2.5
"""Seconds that must pass between two hold phrases of one turn."""
MOST_WORDS = 9
"""The most words of a phrase."""

# Words that only an answer may use; the error names the first match.
_CLAIMS: dict[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"\b(yes|yeah|no|nope|sure|okay|ok|right|correct|of course|certainly|absolutely|checking|looking|searching|"
        r"found|find|booked|booking|done|sent|sending|called|calling|will|'ll|promise|because|is that|actually)\b|\d",
        re.IGNORECASE,
    ),
    "de": re.compile(
        r"\b(ja|jawohl|nein|nee|klar|sicher|okay|ok|richtig|stimmt|genau|natürlich|selbstverständlich|gern|gerne|"
        r"prüfe|suche|schaue|sehe nach|gefunden|finde|gebucht|buche|erledigt|gesendet|geschickt|sende|schicke|"
        r"angerufen|rufe|werde|verspreche|weil|nämlich|eigentlich)\b|\d",
        re.IGNORECASE,
    ),
}


def check_phrase(phrase: str, language: Language = "en") -> str:
    """The phrase, stripped, if it claims nothing.

    Raises:
        ConfigurationError: it is empty, too long, or has words that only an answer may use.
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
    if claim := _CLAIMS[language].search(text):
        raise ConfigurationError(
            f"The hold phrase “{text}” claims something (“{claim.group()}”) before there is an answer; "
            "it may only say that one is being worked on."
        )
    return text


def due_phrase(
    now: float, *, commit: float, hold_at: float, said: int, expected: float | None = None
) -> PhraseKind | None:
    """The phrase that is due in the wait for an answer: one at the deadline, and one when that takes unusually long.

    A phrase that the answer would have to wait for makes the turn longer. So none is said if the answer is expected
    before the phrase would be over.

    Args:
        now: seconds, as all instants.
        commit: when the user's turn was committed.
        hold_at: `HOLD_GUARD` before the deadline of the answer's first clause.
        said: how many phrases were said since the commit.
        expected: when the answer's first clause is expected; None if that is unknown.
    """
    if now >= commit + DELAY_AFTER:
        return "delay" if said < 2 else None
    if now < hold_at or said:
        return None
    helps = expected is None or expected - now >= PHRASE_LASTS or now >= hold_at + LONGEST_SILENCE
    return "hold" if helps else None


class HoldPhrases:
    """The phrases of one call, rotated so that none is heard twice in a row.

    Args:
        hold: phrases for an exceeded budget; the usual ones if empty.
        start: the position of the first phrase, so that calls begin with different ones.
        language: that of the call.

    Raises:
        ConfigurationError: a phrase that `check_phrase` refuses.
    """

    def __init__(self, hold: Sequence[str] = (), *, start: int = 0, language: Language = "en") -> None:
        self.language = language
        self.usual = PHRASES[language]
        """All phrases that the agent says by itself."""
        self._phrases: dict[PhraseKind, tuple[str, ...]] = {
            "hold": tuple(check_phrase(phrase, language) for phrase in hold or self.usual.hold),
            "delay": self.usual.delay,
            "opening": self.usual.openings,
            "progress": self.usual.progress,
        }
        self._next = dict.fromkeys(self._phrases, start)
        self._said_at: float | None = None

    @property
    def phrases(self) -> tuple[str, ...]:
        """All phrases, to be synthesised before the call."""
        return tuple(phrase for phrases in self._phrases.values() for phrase in phrases)

    def progress(self, *, again: bool) -> str:
        """The phrase for a running tool: the first, or a later one."""
        return self.usual.progress[again]

    def begin_turn(self) -> None:
        """A turn begins: forget the phrases of earlier turns."""
        self._said_at = None

    def say(self, kind: PhraseKind, now: float, text: str | None = None) -> str | None:
        """The phrase to say at `now`: the given one, or one of this kind; None if another was said just before.

        A turn with tools has several answers, each with its own deadline.
        """
        if kind == "hold" and self._said_at is not None and now - self._said_at < HOLD_AGAIN:
            return None
        self._said_at = now
        return self.phrase(kind) if text is None else text

    def phrase(self, kind: PhraseKind) -> str:
        """The next phrase of its kind."""
        phrases = self._phrases[kind]
        position, self._next[kind] = self._next[kind], self._next[kind] + 1
        return phrases[position % len(phrases)]
