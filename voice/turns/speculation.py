"""When an answer may be begun for a turn that is not over, and what becomes of it. Pure: times are passed in, seconds.

A speculation that turns out wrong costs a request and processor time that others may need; so there is at most one in
`LEAST_APART`, and none while the event loop lags or others wait for their answers.
"""

from dataclasses import dataclass, field

from pipecat.turns.user_stop import NormalizedMatch

from voice.turns.endpointing import Silence

LEAST_APART = 0.5
"""Seconds between the starts of two speculations of a call."""
HEAD_START = 0.6
"""Seconds before the silence is long enough at which an answer is begun ahead: what a usual model takes to its first
clause. Words that sound finished are answered at the hint."""
PATIENCE = 5.0
"""Seconds after which a call that waits is not taken into account any more."""


@dataclass(slots=True)
class Waiting:
    """The calls of a process that wait for an answer's first sound; one for all calls."""

    since: dict[int, float] = field(default_factory=dict)

    def begin(self, call: int, now: float) -> None:
        """The call's turn was committed."""
        self.since[call] = now

    def end(self, call: int) -> None:
        """It is answered, or wants no answer any more."""
        self.since.pop(call, None)

    def others(self, call: int, now: float) -> bool:
        """Whether anybody else waits; an answer that has not come by now is not what others should wait for."""
        return any(other != call and now - at < PATIENCE for other, at in self.since.items())


class Speculation:
    """The speculations of one call, at most one at a time."""

    def __init__(self) -> None:
        self.text: str | None = None
        """What is being answered ahead; None when nothing is."""
        self.confirmed: str | None = None
        """What was answered ahead and turned out to be this turn's words."""
        self.started = 0
        """In this turn, as is the next."""
        self.discarded = 0
        self._last = -LEAST_APART
        self._refused: str | None = None
        self._match = NormalizedMatch()

    def turn_began(self) -> None:
        """Count anew."""
        self.started = self.discarded = 0
        self.confirmed = self._refused = None

    def due(self, text: str, *, silence: float, meaning: Silence, now: float) -> bool:
        """Whether to answer `text` ahead after so many seconds of a silence of such a meaning."""
        if not text or self.text is not None or text == self._refused or now - self._last < LEAST_APART:
            return False
        return silence >= max(meaning.likely, meaning.needed - HEAD_START)

    def stands(self, text: str) -> bool:
        """Whether what is being answered ahead is an answer to `text`."""
        return self.text is not None and self._match.matches(self.text, text)

    def wants(self, text: str) -> bool:
        """Whether an answer to `text` that was asked for ahead may still be of use."""
        return text in (self.text, self.confirmed)

    def start(self, text: str, now: float) -> None:
        """It is being answered."""
        self.text, self._last = text, now
        self.started += 1

    def withdraw(self) -> bool:
        """The user went on, or the words changed; returns whether there was anything to discard."""
        was, self.text = self.text, None
        self.discarded += was is not None
        return was is not None

    def refuse(self) -> None:
        """The answer cannot be given ahead (it needs a tool): do not try these words again."""
        if self.text is not None:
            self._refused = self.text
            self.withdraw()

    def confirm(self, text: str) -> bool:
        """The turn is over with these words: whether the answer that was begun is theirs."""
        if not self.stands(text):
            return False
        self.confirmed, self.text = self.text, None
        return True
