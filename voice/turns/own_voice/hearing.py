"""Whether the agent hears itself in a call, and which words are its own. Pure: times are passed in, seconds.

Recognisers garble the first words of an echo most. Once the agent has heard itself, or seems to, words that are said
during its answers therefore count as another's only when they surely are.
"""

import math

from voice.turns.barge_in.meaning import Meaning, meaning_of
from voice.turns.own_voice.spoken_words import CLEARLY_NOT, SpokenWords

AT_ONCE = 0.8
"""Seconds after the agent has begun to speak in which an echo begins to be heard; callers rarely begin so soon."""
SUSPICIOUS = 2
"""So many answers in a row in which speech began at once make it likely that the agent hears itself."""
UNDISTURBED = 1.5
"""Seconds of an answer without any speech that show that the agent does not hear itself."""
ECHO_FADES = 1.0
"""Seconds after the agent has stopped in which its voice may still be heard: the client's buffers, and the room."""


class Hearing:
    """Follows the agent's voice and what is heard.

    Args:
        spoken: what the agent has spoken.
    """

    def __init__(self, spoken: SpokenWords) -> None:
        self._heard_itself = False
        self._spoken = spoken
        self._speaks = False
        self._started, self._stopped, self._began = -math.inf, -math.inf, -math.inf
        self._suspicion = 0
        """Answers in a row at whose beginning speech began."""

    @property
    def hears_itself(self) -> bool:
        """Whether the agent has heard itself in this call, or seems to."""
        return self._heard_itself or self._suspicion >= SUSPICIOUS

    def agent_started(self, now: float) -> None:
        """The agent begins to be heard."""
        self._speaks, self._started = True, now

    def agent_stopped(self, now: float) -> None:
        """The agent has finished, or was interrupted."""
        self._speaks, self._stopped = False, now
        if self._began < self._started and now - self._started > UNDISTURBED:
            self._suspicion = 0

    def speech_began(self, at: float) -> None:
        """The voice detector reports speech that began at `at`."""
        if self._speaks and self._began < self._started:
            self._suspicion += at - self._started < AT_ONCE
        self._began = at

    def is_own(self, words: str, now: float, *, final: bool) -> bool:
        """Whether words of the latest speech are the agent's own.

        Args:
            words: what the recogniser made of the speech so far.
            now: when it did.
            final: whether no others follow.
        """
        if self._spoken.are_own(words, self._began, now):
            return True
        overlaps = self._speaks or self._began < self._stopped + (0 if final else ECHO_FADES)
        return self.hears_itself and overlaps and not self._is_surely_anothers(words, now)

    def note_own(self, words: str, now: float) -> bool:
        """All words of the latest speech were the agent's; returns whether that is the first proof in the call."""
        if self._heard_itself or not self._spoken.are_own(words, self._began, now):
            return False
        self._heard_itself = True
        return True

    def _is_surely_anothers(self, words: str, now: float) -> bool:
        if self._spoken.are_surely_not_own(words, self._began, now):
            return True
        stops = meaning_of(words, language=self._spoken.language) is Meaning.STOP
        return stops and self._spoken.share_own(words, self._began, now) <= CLEARLY_NOT
