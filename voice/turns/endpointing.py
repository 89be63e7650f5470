"""How much silence ends the user's turn. Pure: evidence and times are arguments; all times are in seconds.

Waiting longer costs a caller who has finished as much time as is waited; ending costs a caller who has not a cut-off.
So a silence ends the turn as soon as another moment of it would spare less than it costs: when the density of this
caller's pauses at this length, times the odds that this is a pause, has fallen to a threshold. The odds follow from the
evidence (`Evidence`) and from how often this caller pauses, the density from how long this caller's pauses are. So
finished words need no more silence than the voice detector itself, and a caller who keeps pausing is given as much time
as the pauses take. Of all rules that cut off the same share of pauses, this one has the least mean delay, if its model
of pauses is true.
"""

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from voice.turns.evidence import Evidence

RISK = 0.05
"""Share of a caller's pauses that may be taken for the end of the turn, unless a call sets another."""
CUT_OFF_WEIGHTS = ((0.03, 200.0), (0.05, 90.0), (0.1, 38.0), (0.25, 10.0), (0.5, 2.2))
"""Which weight of a cut-off, beside a second of delay, cuts off which share of the pauses: (share, weight),
interpolated on logarithmic scales. Measured on 432 pauses of 46 speakers (404 of them inserted, as long as real ones),
in calls of 8 turns some of which have none, each speaker judged by evidence that was fitted without that speaker's
recordings (the last line of `pipelines.lab.curve.left_out`). Of 324 pauses of 8 speakers outside the fit, most of them
inserted, 4.3 % are cut off at 5 % (3.0 to 5.8 %, by `latency curve`)."""
TURNS_KEPT = 8
TURNS_BEFORE, PAUSES_BEFORE = 1.0, 0.2
"""What is assumed of a caller before the first turn: one pause in five turns, to be forgotten as turns are heard."""
MOST_PAUSES_PER_TURN, LEAST_PAUSES_PER_TURN = 3.0, 0.02
"""Bounds of what is expected of a caller."""
PAUSE_SHAPE, PAUSE_SCALE = 1.5, 0.22
"""Lomax distribution of pauses beyond 0.2 s: 57, 21, 10 and 5 % last longer than 0.3, 0.6, 1.0 and 1.6 s; of the 705
pauses of livekit/eot-bench's English callers, 56, 22, at most 10 and at most 5 % do."""
PAUSES_LENGTH_BEFORE = 4.0
"""How many pauses of the caller's own weigh as much as the assumed scale."""
LEAST_SCALE = 0.1
"""Seconds, for callers whose pauses were all short."""
WINDOW = 0.032
"""Seconds that the voice detector judges at a time."""
LEAD_IN_SILENCE = 0.65
"""The least silence in seconds that ends a turn which so far is only a lead-in ("hello"). A request that follows after
0.4 s then belongs to it: the start of speech is in doubt some 0.05 s after its onset, and what the voice detector calls
silence begins up to 0.1 s before the labelled end of the speech."""
FINISHED = 0.5
"""Probability from which words count as finished."""
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
    def per_turn(self) -> float:
        """How many pauses a turn of this caller is expected to have."""
        expected = (PAUSES_BEFORE + sum(1 for _ in self)) / (TURNS_BEFORE + self.turns)
        return min(max(expected, LEAST_PAUSES_PER_TURN), MOST_PAUSES_PER_TURN)

    def scale(self, stop: float) -> float:
        """Scale of the Lomax distribution of this caller's pauses beyond the voice detector's silence, seconds."""
        beyond = [max(0.0, pause - stop) for pause in self]
        assumed = PAUSES_LENGTH_BEFORE * PAUSE_SCALE
        # The mean of a Lomax distribution is scale / (shape - 1).
        heard = sum(beyond) * (PAUSE_SHAPE - 1)
        return max((assumed + heard) / (PAUSES_LENGTH_BEFORE + len(beyond)), LEAST_SCALE)

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


def cut_off_weight(risk: float) -> float:
    """The weight of a cut-off that takes this share of pauses, 0 to 1, for the end."""
    pairs = list(pairwise(CUT_OFF_WEIGHTS))
    (low, heavy), (high, light) = next((pair for pair in pairs if risk <= pair[1][0]), pairs[-1])
    return heavy * math.pow(risk / low, math.log(light / heavy) / math.log(high / low))


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpointing:
    """The endpointing rule of a call.

    `adaptive` weighs all evidence. Without it Smart Turn alone decides: an incomplete turn waits for the whole
    `fallback`.
    """

    stop: float
    """Seconds of silence after which the voice detector reports a stop: the least silence that ends a turn."""
    fallback: float
    """The silence timeout: seconds of silence that end a turn when there is no evidence."""
    longest: float = 2.5
    """Seconds of silence that end a turn whatever the evidence and the caller's habits."""
    adaptive: bool = True
    risk: float = RISK
    """Share of a caller's pauses that may be taken for the end of the turn, 0 to 1."""

    def judge(self, evidence: Evidence, pauses: Pauses) -> Silence:
        """What a silence means after words with this evidence, spoken by a caller with these pauses."""
        if not self.adaptive:
            finished = self.judges_finished(evidence)
            return Silence(needed=self.stop if finished else max(self.stop, self.fallback), likely=0.0)
        if not evidence.known:
            return Silence(needed=max(self.stop, self.fallback), likely=max(self.stop, self.fallback))
        over = evidence.probability
        odds = (1 - over) / over * pauses.per_turn * evidence.pauses_expected
        scale = pauses.scale(self.stop)
        weight = cut_off_weight(self.risk)
        # The Lomax density falls with the power shape + 1, and the share of longer pauses with the power shape.
        needed = self._until(weight * odds * PAUSE_SCALE / scale, scale, PAUSE_SHAPE + 1)
        if evidence.leads_in:
            needed = max(needed, LEAD_IN_SILENCE)
        # Bayes: since the end of speech, the odds of going on have shrunk to the share of longer pauses.
        likely = min(self._until(odds * LIKELY_OVER / (1 - LIKELY_OVER), scale, PAUSE_SHAPE), needed)
        return Silence(needed=needed, likely=0.0 if likely <= self.stop else likely)

    def judges_finished(self, evidence: Evidence) -> bool:
        """Whether the words are finished more likely than not, if pauses were as frequent as ends."""
        return (evidence.probability if self.adaptive else evidence.sound or 0.0) >= FINISHED

    def _until(self, weighed: float, scale: float, power: float) -> float:
        """Seconds of silence at which `weighed` is 1 if it falls as (1 + silence beyond stop / scale)^-power."""
        beyond = scale * (math.pow(weighed, 1 / power) - 1) if weighed > 1 else 0.0
        # The voice detector hears in windows: less than one is no wait.
        return min(self.stop + (beyond if beyond >= WINDOW else 0.0), max(self.longest, self.stop))
