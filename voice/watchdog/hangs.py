"""The part of a call that the caller waits for, since when, and the limits. Pure: times are passed in.

The caller waits for one part after the other: the recogniser (the text), turn taking (the end of the turn), a language
model or a tool (the answer), synthesis (its sound), and the transport (its delivery). Audio being sent and the caller's
own speech do not count as silence.
"""

from dataclasses import dataclass

from latency.record.turn import EndedBy, Part
from voice.frames import TurnEndFrame
from voice.turns.turn_follower import TurnFollower

NO_ANSWER: frozenset[EndedBy] = frozenset({"nothing_heard", "own_voice", "recogniser_failed"})
"""Ends of turns without an answer: there is nothing to answer, or the loss has been reported."""
PATIENT: tuple[Part, ...] = ("language model", "tool")
"""Parts that may take long; the caller is told that they are working."""
MOST_IN_A_ROW = 3
"""Consecutive hangs without an answer after which a call is ended."""
BLOCKED = 25
"""The least messages of audio that have arrived since one last passed through; fewer may be in transit."""
SETTLED = 0.05
"""Seconds of synthesised audio that may stay unsent: a last chunk is padded with silence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of silence in a call, in seconds."""

    silence: float = 8.0
    """The awaited part must make progress within this time, or the caller is told."""
    give_up: float = 60.0
    """The time after which a language model or a tool is given up, despite earlier reassurance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminder:
    """It is time to reassure the caller that an answer is still being prepared."""

    part: Part


@dataclass(frozen=True, slots=True, kw_only=True)
class Hang:
    """A part has hung."""

    part: Part | None
    """The part; None if an unknown part blocks the caller's audio."""
    seconds: float
    """The length of the wait."""
    times: int
    """The number of consecutive hangs, including this one."""
    ends_call: bool
    """Whether the call must be ended: nothing can be said, or it keeps hanging."""
    answered: bool
    """Whether part of the answer was spoken."""


class HangDetector(TurnFollower[None]):
    """Follows one call, and detects hangs and due reminders.

    Args:
        limits: how long the call may be silent.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._began: dict[Part, float] = {}
        """The awaited parts, and since when."""
        self._moved: dict[Part, float] = {}
        """The time of each part's last progress."""
        self._quiet_since = float("-inf")
        """When the caller last spoke, or audio of the agent was last sent."""
        self._speaking = self._open = self._words = self._decided = False
        """Whether the caller speaks, a turn is open, its text has come, and its end has been decided."""
        self._tools: set[str] = set()
        self._answered = self._reasoning = False
        """Whether some of the answer has been spoken, and whether the reason for a silence is being said."""
        self._text, self._of_answer = False, True
        self._unsent = 0.0
        self._clauses = 0
        """Clauses waiting for synthesis."""
        self._in_a_row = 0
        self._came = 0
        """Messages of audio since the last one that passed through; 0 before the first."""
        self._through: float | None = None
        self._deaf = 0
        self._paused = False
        self._plays_until = float("-inf")
        """Until when a client that came back plays resent audio."""

    @property
    def due(self) -> float | None:
        """When `check` will find something if nothing happens before; None for never."""
        if self._paused:
            return None
        found = [] if self._speaking else [self._due(part) for part in self._began]
        if self._through is not None and self._came >= BLOCKED:
            found.append(self._through + self._limits.silence)
        return min(found, default=None)

    def check(self, now: float) -> Reminder | Hang | None:
        """The reminder or hang that is due now; each is returned once."""
        due = self.due
        if due is None or now < due:
            return None
        if self._through is not None and self._came >= BLOCKED and now >= self._through + self._limits.silence:
            return self._blocked(now)
        part = min(self._began, key=self._due)
        if part in PATIENT and now - self._began[part] < self._limits.give_up:
            self._moved[part] = now
            return Reminder(part=part)
        return self._hung(part, now)

    def paused(self, paused: bool, now: float, *, again: float = 0.0) -> None:
        """The client has gone and may come back, or is back; in between, nobody waits.

        Args:
            paused: whether it has gone.
            now: the time.
            again: seconds of audio that it is sent again, and plays before anything new is sent.
        """
        self._paused, self._quiet_since = paused, now
        self._plays_until = now + again
        # After the client's absence, every part gets its full time again.
        self._began, self._moved = dict.fromkeys(self._began, now), dict.fromkeys(self._moved, now)
        self._came = 0
        if self._through is not None:
            self._through = now

    def audio_came(self) -> None:
        """A message of the caller's audio has arrived."""
        self._came += 1

    def audio_through(self, now: float) -> None:
        """A message of audio has passed the recogniser and turn taking."""
        self._came, self._through, self._deaf = 0, now, 0

    def speech_started(self, now: float) -> None:
        """The caller speaks."""
        self._speaking, self._words = True, False
        self._forget("recogniser", "turn taking")

    def speech_stopped(self, now: float, silence: float) -> None:
        """The caller is silent."""
        self._speaking, self._quiet_since = False, now
        if self._open:
            self._wait("recogniser", now)

    def turn_opened(self, now: float) -> None:
        """The caller's speech is a turn, which interrupts any answer."""
        self.interrupted(now)
        self._open, self._answered, self._decided = True, False, False
        if not self._speaking:
            self._wait("turn taking" if self._words else "recogniser", now)

    def heard(self, now: float, text: str, *, final: bool = True, revised: bool = False) -> None:
        """The recogniser has given text."""
        if not final:
            self._move("recogniser", now)
            return
        self._words = True
        self._forget("recogniser")
        if self._open and not self._speaking:
            self._wait("turn taking", now)

    def heard_nothing(self, now: float) -> None:
        """The recogniser found no further words, or reports a failure."""
        self._forget("recogniser")

    def turn_ended(self, now: float, end: TurnEndFrame) -> None:
        """The end of the turn is decided; a speculative answer may already be under way."""
        self._decided = end.ended_by not in NO_ANSWER
        if end.confirmed:
            self.asked(now)
        elif not self._decided:
            self._forget("recogniser", "turn taking")

    def turn_closed(self, now: float) -> None:
        """The turn is over. If turn taking did not decide that, nothing more is expected of it."""
        self._open = False
        if self._decided:
            self._move("turn taking", now)
        else:
            self._forget("turn taking")

    def asked(self, now: float) -> None:
        """An answer is requested."""
        self._forget("recogniser", "turn taking")
        self._text = False
        self._wait("language model", now)

    def text_came(self, now: float, *, clauses: int) -> None:
        """A model gave text of an answer; so many of its clauses are complete and go to synthesis."""
        self._in_a_row, self._text = 0, True
        self._move("language model", now)
        if clauses:
            self.to_speak(now, clauses=clauses)

    def model_failed(self, now: float, reason: str, *, clauses: int = 0) -> None:
        """A model failed; an apology counts as an answer."""
        self.text_came(now, clauses=clauses)

    def model_ended(self, now: float) -> None:
        """A model's response is over. Without words or a tool call, the caller still waits."""
        if self._text or self._tools:
            self._forget("language model")

    def tool_began(self, now: float, name: str, *, awaited: bool = True) -> None:
        """A tool runs."""
        if not awaited:
            return
        self._tools.add(name)
        self._forget("language model")
        self._wait("tool", now)

    def tool_ended(self, now: float, name: str, *, goes_on: bool) -> None:
        """A tool has ended; `goes_on`: a model is asked again with its result."""
        self._tools.discard(name)
        if not self._tools and "tool" in self._began:
            self._forget("tool")
            if goes_on:
                self.asked(now)

    def tool_cancelled(self, now: float, name: str, *, goes_on: bool) -> None:
        """A tool was cancelled."""
        self.tool_ended(now, name, goes_on=goes_on)

    def to_speak(self, now: float, *, clauses: int = 1, reason: bool = False) -> None:
        """Words go to synthesis; `reason`: they give the reason for a silence."""
        self._reasoning = reason
        self._clauses += clauses
        self._wait("synthesis", now)

    def speech_begun(self, now: float, text: str, context: str | None, *, of_answer: bool = True) -> None:
        """Synthesis has begun a clause."""
        self._of_answer = of_answer
        self._clauses = max(0, self._clauses - 1)
        self._wait("synthesis", now)

    def speech_made(self, now: float, seconds: float, context: str | None) -> None:
        """Synthesis has produced so many seconds of audio."""
        self._move("synthesis", now)
        if not self._clauses:
            self._forget("synthesis")
        self._unsent += seconds
        self._answered = self._answered or self._of_answer
        self._wait("transport", now)

    def speech_sent(self, now: float, seconds: float) -> None:
        """So many seconds of audio were sent."""
        self._quiet_since = now
        self._unsent -= seconds
        self._move("transport", now)
        if self._unsent <= SETTLED:
            self._forget("transport")

    def agent_stopped(self, now: float) -> None:
        """The utterance was sent in full."""
        self._unsent, self._reasoning, self._quiet_since = 0.0, False, now
        self._forget("transport")

    def interrupted(self, now: float) -> None:
        """The answer is interrupted."""
        self._tools.clear()
        self._unsent, self._clauses, self._reasoning = 0.0, 0, False
        self._plays_until = float("-inf")
        self._forget("language model", "tool", "synthesis", "transport")

    def _due(self, part: Part) -> float:
        # Earlier audio says nothing about the transport now.
        since = self._moved[part] if part == "transport" else max(self._moved[part], self._quiet_since)
        return max(since, self._plays_until) + self._limits.silence

    def _wait(self, part: Part, now: float) -> None:
        self._began.setdefault(part, now)
        self._moved.setdefault(part, now)

    def _move(self, part: Part, now: float) -> None:
        if part in self._began:
            self._moved[part] = now

    def _forget(self, *parts: Part) -> None:
        for part in parts:
            self._began.pop(part, None)
            self._moved.pop(part, None)

    def _hung(self, part: Part, now: float) -> Hang:
        mute = part == "transport" or (part == "synthesis" and self._reasoning)
        seconds, answered = now - self._began[part], self._answered
        self.interrupted(now)
        self._forget("recogniser", "turn taking")
        self._in_a_row += 1
        ends = mute or self._in_a_row >= MOST_IN_A_ROW
        return Hang(part=part, seconds=seconds, times=self._in_a_row, ends_call=ends, answered=answered)

    def _blocked(self, now: float) -> Hang:
        assert self._through is not None
        seconds = now - self._through
        self._forget("recogniser", "turn taking")
        self._through, self._came = now, 0
        self._deaf += 1
        # A part that blocks the audio may block everything: the reason is said once, and then the call ends.
        return Hang(part=None, seconds=seconds * self._deaf, times=self._deaf, ends_call=self._deaf > 1, answered=False)
