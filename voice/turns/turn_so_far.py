"""The user's turn while it lasts: its words, and the silence after them. Pure: it counts seconds of audio."""

import re
from collections.abc import Iterable

from voice.turns.endpointing import Pauses

START_TRIES = 0.2
"""Seconds after a possible start of speech that do not count as silence. When people go on after a pause, one start in
ten is detected only at the second attempt (7 of 66, at most 0.17 s later). No such sound followed any of 94 clean
ends."""
DETECTION = 0.23
"""Seconds from the start of speech to the voice detector's report of it (median; see `voice.turns.vad`)."""
ONE_TURN = 1.5
"""A caller who speaks again within this many seconds continues the turn, even after its commit, unless the agent has
finished its answer."""
MOST_JOINS = 3
"""The most continuations of a turn after its commit; without a limit, an agent that hears itself would never finish
one."""


_SENTENCE_MARK = re.compile(r"(?<!\.\w)[.?!…]+$")
"""At the end of a text, except after an abbreviation such as "p.m."."""


def joined(texts: Iterable[str]) -> str:
    """The transcripts of one turn as one text.

    A recogniser ends each like a sentence; a next one in lower case continues it, and the full stop is dropped.
    """
    whole = ""
    for text in filter(None, texts):
        if text[0].islower():
            whole = _SENTENCE_MARK.sub("", whole)
        whole = f"{whole} {text}".lstrip()
    return whole


class TurnSoFar:
    """The current turn by the reports of the voice detector and the recogniser, and the caller's pauses."""

    def __init__(self) -> None:
        self.is_open = False
        """Whether a turn has started and has not been committed."""
        self.speaking = False
        """Whether the detector has reported speech and not yet a stop."""
        self.silence: float | None = None
        """Seconds since the last speech; None while the user speaks, and before the first speech."""
        self.spoken: float | None = None
        """Seconds from the turn's first speech to the end of its latest; None while the user speaks."""
        self.words: list[str] = []
        """The transcripts, one for each stretch of speech, or for several recognised together."""
        self.revises = False
        """Whether texts of the present stretch replace the transcript of the previous one."""
        self.final = False
        """Whether the last stretch of speech has its final transcript."""
        self.joins = 0
        """The number of times the turn was committed too early and then continued."""
        self.pauses = Pauses()
        self._committed: list[str] = []
        self._answered = False
        self._eager = ""
        self._since_start = START_TRIES
        self._since_first = 0.0
        self._before: float | None = None
        """Seconds of silence before the speech under way, while it is undecided whether it is a turn."""
        self._first_before = 0.0
        self._undecided = False

    @property
    def committed(self) -> str:
        """The words of the last committed turn."""
        return joined(self._committed)

    @property
    def text(self) -> str:
        """All words so far, including interim ones."""
        return self.text_with(self._eager)

    @property
    def lasted(self) -> float:
        """Seconds from the turn's first speech until now, or until its latest speech if the user is silent."""
        return self._since_first if self.spoken is None else self.spoken

    @property
    def may_be_over(self) -> bool:
        """Whether all speech has been recognised and the user is silent."""
        return self.final and bool(self.words) and not self.speaking

    @property
    def may_be_answered(self) -> bool:
        """Whether there is a transcript of the speech that may just have ended."""
        return self.final or bool(self._eager)

    def begin(self) -> bool:
        """A turn begins, or the last committed one continues; returns whether it continues.

        Speech from before this decision belongs to the turn.
        """
        gap = self._before if self._undecided else self.silence
        continues = gap is not None and gap < ONE_TURN and not self._answered and self.joins < MOST_JOINS
        if not self._undecided:
            self._forget_words()
        self.is_open = True
        if continues:
            self.pauses.turn_goes_on()
            if self._undecided and gap is not None:
                self.pauses.add(gap)
                self._since_first += self._first_before - DETECTION
            self.words = [*self._committed, *self.words]
            self.joins += 1
        else:
            if not self._undecided:
                # The preceding silence was the agent's turn.
                self.silence, self._since_first = None, DETECTION
            self.joins = 0
        self._undecided = False
        return continues

    def set_aside(self) -> None:
        """The speech since the last turn was not a turn."""
        self._undecided = self.speaking = False
        self.silence = self.spoken = None
        self._forget_words()

    def end(self) -> None:
        """The turn was committed."""
        self.is_open = self._undecided = False
        self._committed, self._answered = self.words, False
        self._forget_words()
        self.pauses.turn_over()

    def hear(self, seconds: float, *, may_be_starting: bool) -> bool:
        """Count audio; returns whether it was silence. `may_be_starting`: whether it may be the start of speech."""
        self._since_first += seconds
        self._since_start = 0.0 if may_be_starting else self._since_start + seconds
        if self.silence is None or self._since_start <= START_TRIES:
            return False
        self.silence += seconds
        return True

    def speech_started(self) -> None:
        """The detector reports the start of speech."""
        if not (self.is_open or self._undecided):
            self._before, self._first_before = self.silence, self._since_first
            self._undecided, self._since_first = True, DETECTION
            self._forget_words()
        elif self.is_open and self.silence is not None:
            self.pauses.add(self.silence)
        self.speaking, self.final, self.revises = True, False, False
        self.speech_resumed()

    def speech_resumed(self) -> None:
        """The silence of the last hint was too short: speech goes on."""
        self.silence, self.spoken, self._eager = None, None, ""

    def speech_may_have_stopped(self, silence: float) -> None:
        """The detector hints at an end of speech after this much silence."""
        self.silence, self.spoken = silence, self._since_first - silence

    def speech_stopped(self, silence: float) -> None:
        """The detector reports the end of speech after this much silence."""
        self.speaking = False
        self.speech_may_have_stopped(silence)

    def answer_ended(self) -> None:
        """The agent has finished: whatever the caller says next is a new turn."""
        # An open turn has interrupted the agent.
        self._answered = not self.is_open

    def text_with(self, latest: str) -> str:
        """All words, with `latest` for the present stretch of speech."""
        return joined([*(self.words[:-1] if latest and self.revises else self.words), latest])

    def expect(self, text: str) -> bool:
        """Take an eager transcript of speech that may have ended; returns whether it is usable."""
        if self.silence is None or self.final or not text:
            return False
        self._eager = text
        return True

    def recognise(self, text: str, *, final: bool) -> None:
        """Take a transcript; `final` if it is the last of this stretch of speech."""
        if not (self.is_open or self._undecided):
            return
        if self.revises:
            del self.words[-1:]
        self.words.append(text)
        self.revises = False
        self.final, self._eager = final, ""

    def correct(self, text: str) -> None:
        """Replace the words of the turn that was committed last."""
        self._committed = [text]

    def _forget_words(self) -> None:
        self.words, self.final, self._eager = [], False, ""
