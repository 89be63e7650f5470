"""What was sent of an utterance lately, and where it can be taken up again after a silence. Pure: it counts seconds."""

from collections import deque

REMEMBERED = 6.0
"""Seconds of audio kept: three words and the pauses between them, also of a slow voice."""
MOST_REPEATED = 3
"""Words that are repeated at most when an utterance goes on."""
REPEATED_INSIDE = 1
"""Words repeated when no clause begins within the last `MOST_REPEATED`."""


class SentAudio:
    """The latest audio of an utterance, with the ends of its words and the beginnings of its clauses.

    Args:
        bytes_per_second: of the audio.
        ahead: seconds of audio that have been sent when a word's end, which is reported with the sound that the
            listener hears then, is noted.
    """

    def __init__(self, *, bytes_per_second: int, ahead: float) -> None:
        self._rate, self._ahead = bytes_per_second, ahead
        self.clear()

    def clear(self) -> None:
        """Another utterance begins."""
        self._chunks: deque[bytes] = deque()
        self._kept = 0.0
        self.sent = 0.0
        """Seconds sent."""
        self._words: deque[float] = deque(maxlen=16)
        self._clauses: deque[float] = deque(maxlen=8)

    def add(self, audio: bytes) -> None:
        """Audio is sent."""
        seconds = len(audio) / self._rate
        self.sent += seconds
        self._kept += seconds
        self._chunks.append(audio)
        while self._kept > REMEMBERED:
            self._kept -= len(self._chunks.popleft()) / self._rate

    def word(self) -> None:
        """The listener has heard a word to its end."""
        self._words.append(max(0.0, self.sent - self._ahead))

    def clause(self) -> None:
        """The next audio begins a clause."""
        if not self._clauses or self._clauses[-1] != self.sent:
            self._clauses.append(self.sent)

    def border(self, heard: float) -> float:
        """Where the utterance goes on after a listener has heard `heard` seconds: at most `MOST_REPEATED` words back.

        That is where the latest clause began, or else a word or two before, so that the word that was broken off is
        whole.
        """
        words = [end for end in self._words if end <= heard]
        earliest = words[-MOST_REPEATED - 1] if len(words) > MOST_REPEATED else 0.0
        clauses = [begin for begin in self._clauses if earliest <= begin <= heard]
        if clauses:
            return clauses[-1]
        return words[-REPEATED_INSIDE - 1] if len(words) > REPEATED_INSIDE else earliest

    def since(self, begin: float) -> list[bytes]:
        """The audio that was sent from `begin` seconds on, as far as it is kept."""
        at = self.sent - self._kept
        found = []
        for chunk in self._chunks:
            seconds = len(chunk) / self._rate
            if at + seconds > begin + 1e-6:
                skip = max(0, round((begin - at) * self._rate / 2)) * 2
                found.append(chunk[skip:])
            at += seconds
        return found
