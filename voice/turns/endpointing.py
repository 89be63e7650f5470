"""How much silence ends the user's turn. Pure: evidence and times are arguments; all times are in seconds.

A silence ends the turn as soon as the chance that the user would have gone on is small enough. At the start of a
silence this chance follows from how finished the words sound (Smart Turn) and read (`SentenceEnds`), and from how often
this caller pauses inside turns. While the silence lasts the chance falls, faster the shorter this caller's pauses are.
So finished words need no more silence than the voice detector itself, and a caller who keeps pausing is given as much
time as the pauses take.
"""

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from voice.turns.evidence import Evidence

RISK = 0.0125
"""Estimated chance of cutting the caller off at which a silence ends the turn, unless a call sets another.

The rule was applied offline to the evidence of the prompts that `Evidence` is fitted to, with a pause of 0.3 to 1.2 s
in each prompt that has a gap between words, 16 prompts a call: 5 % of the pauses are taken for the end. Without pauses,
76 % of the ends need no wait, and 5 % wait for more than 0.53 s.
"""
TURNS_KEPT = 8
TURNS_BEFORE, PAUSES_BEFORE = 1.0, 0.125
"""What is assumed of a caller before the first turn: one pause in eight turns."""
MOST_TURNS_PER_PAUSE = 48.0
"""The rule never assumes that a caller pauses more rarely."""
PAUSE_SHAPE, PAUSE_SCALE = 1.5, 0.1
"""Gamma prior on the rate at which pauses end, which makes their lengths Lomax distributed: before any was heard, 0.2 s
beyond the voice detector's silence on average, with a long tail."""
PAUSES_LONG = 1.6
"""For callers who pause in most turns, even the weakest evidence ends the turn once the silence exceeds the voice
detector's by 1.6 times as much as their longest pause did."""
HARDLY_LONGER = 1.7
"""After words that are hardly finished the silence timeout is 1.7 times as long. In the offline replay 5 % of the
pauses are then taken for the end instead of 8 %, and 1.6 % of the ends without pauses wait for more than 0.75 s."""
LONGEST_SILENCE = 2.0
"""Seconds of silence that end a turn whatever words and habits say, unless the silence timeout itself is longer."""
LIKELY_OVER = 0.7
"""Chance that the turn is over from which a speculative answer is worth its cost."""


class Pauses:
    """How long a caller has paused inside the latest turns, seconds."""

    def __init__(self) -> None:
        self._turns: deque[list[float]] = deque(maxlen=TURNS_KEPT)
        self._now: list[float] = []

    def __iter__(self) -> Iterator[float]:
        for turn in self._turns:
            yield from turn
        yield from self._now

    @property
    def turns(self) -> int:
        """How many turns are remembered."""
        return len(self._turns)

    @property
    def are_a_habit(self) -> bool:
        """Whether the caller paused in most turns; the current turn counts once it has a pause."""
        turns = [*self._turns, *([self._now] if self._now else [])]
        return 2 * sum(map(bool, turns)) > len(turns)

    def add(self, pause: float) -> None:
        """The caller continued the turn after a silence of this length."""
        self._now.append(pause)

    def turn_over(self) -> None:
        """The turn was committed."""
        self._turns.append(self._now)
        self._now = []

    def turn_goes_on(self) -> None:
        """The turn that was committed last was not over: the caller continues it."""
        if self._turns:
            self._now = self._turns.pop() + self._now


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """What a silence means, by its length in seconds."""

    needed: float
    """The silence that ends the turn."""
    likely: float
    """The silence after which the turn is so likely over that a speculative answer may start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpointing:
    """The endpointing rule of a call.

    `adaptive` weighs all evidence. Without it Smart Turn alone decides: an incomplete turn waits for the whole
    `fallback`.
    """

    stop: float
    """Seconds of silence after which the voice detector reports a stop: the least silence that ends a turn."""
    fallback: float
    """The silence timeout: seconds of silence that end a turn whose words sound and read unfinished. It is longer for a
    caller who pauses longer, and after words that are hardly finished (`HARDLY_LONGER`)."""
    adaptive: bool = True
    risk: float = RISK
    """Estimated chance of cutting the caller off at which a silence ends the turn, 0 to 1."""

    def judge(self, evidence: Evidence, pauses: Pauses) -> Silence:
        """What a silence means after words with this evidence, spoken by a caller with these pauses."""
        if not self.adaptive:
            believed = (evidence.sound or 0.0) >= 0.5
            return Silence(needed=self.stop if believed else max(self.stop, self.fallback), likely=0.0)
        beyond = [max(0.0, pause - self.stop) for pause in pauses]
        over, count = evidence.probability, len(beyond)
        turns_per_pause = min((TURNS_BEFORE + pauses.turns) / (PAUSES_BEFORE + count), MOST_TURNS_PER_PAUSE)
        going_on = (1 - over) / (1 - over + turns_per_pause * over)

        def until(remaining: float) -> float:
            """Seconds until only this share of the caller's pauses lasts longer: the Lomax distribution's quantile."""
            if remaining >= 1:
                return self.stop
            scale, shape = PAUSE_SCALE + sum(beyond), PAUSE_SHAPE + count
            return self.stop + scale * (math.pow(max(remaining, 1e-9), -1 / shape) - 1)

        habit = self.stop + PAUSES_LONG * max(beyond, default=0.0) if pauses.are_a_habit else 0.0
        hardly = self.fallback * HARDLY_LONGER if evidence.hardly_finished else 0.0
        bound = max(self.stop, self.fallback, min(max(habit, hardly), LONGEST_SILENCE))
        needed = min(until(self.risk / going_on), bound) if going_on else self.stop
        # Bayes: since the end of speech, the chance of going on has shrunk to the share of longer pauses.
        odds = (1 - going_on) / going_on if going_on else math.inf
        likely = min(until(odds * (1 - LIKELY_OVER) / LIKELY_OVER), needed)
        return Silence(needed=needed, likely=0.0 if likely <= self.stop else likely)
