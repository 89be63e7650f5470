"""The silence that ends the user's turn. Pure: evidence and times are arguments; all times are in seconds.

Waiting delays the answer to a caller who has finished; not waiting cuts off one who has only paused. So a silence ends
the turn as soon as waiting longer would cost more than it saves: when the density of this caller's pauses at this
length, times the odds of a pause, has fallen to a threshold. The odds follow from the evidence (`Evidence`) and the
number of this caller's pauses, the density from their lengths. Finished words then need no more silence than the voice
detector itself, and a caller who pauses often or long gets more time. If its model of pauses is true, this rule has the
least mean delay of all rules that cut off the same share of pauses.

The defaults of `turns.fallback_ms` (the silence without evidence), `turns.longest_ms` and `turns.risk` are in
`pipelines.settings`.
"""

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from voice.turns.evidence import Evidence

RISK = 0.05
"""Default share of a caller's pauses that may be taken for the end of the turn."""
CUT_OFF_WEIGHTS = ((0.03, 200.0), (0.05, 90.0), (0.1, 38.0), (0.25, 10.0), (0.5, 2.2))
"""The cost of a cut-off, in seconds of delay, that cuts off a given share of the pauses: (share, weight), interpolated
on logarithmic scales. Measured on 196 pauses of the 24 speakers of the fit (180 of them inserted, with realistic
lengths), in calls of 8 turns, some without a pause. The evidence for each speaker was fitted without that speaker's
recordings (the last line of `tests.benchmarks.evidence_left_out`). Of 301 pauses of 24 other speakers, 288 of them
inserted, 10 are cut off at 5 %."""
TURNS_KEPT = 8
TURNS_BEFORE, PAUSES_BEFORE = 1.0, 0.2
"""The assumption before the first turn: one pause in five turns. It loses weight with each turn heard."""
MOST_PAUSES_PER_TURN, LEAST_PAUSES_PER_TURN = 3.0, 0.02
"""Bounds of a caller's expected pauses per turn."""
PAUSE_SHAPE, PAUSE_SCALE = 1.5, 0.22
"""Lomax distribution of pauses beyond 0.2 s: 57, 21, 10 and 5 % last longer than 0.3, 0.6, 1.0 and 1.6 s; of the 705
pauses of livekit/eot-bench's English callers, 56, 22, at most 10 and at most 5 % do."""
PAUSES_LENGTH_BEFORE = 4.0
"""The weight of the assumed scale, in pauses of the caller's own."""
LEAST_SCALE = 0.1
"""The least scale in seconds, for callers whose pauses were all short."""
WINDOW = 0.032
"""The voice detector's window, in seconds."""
LEAD_IN_SILENCE = 0.65
"""The least silence, in seconds, that ends a turn with nothing but a lead-in ("hello"). A request within 0.4 s then
still belongs to it: the start of speech is noticed some 0.05 s after its onset, and the voice detector's silence begins
up to 0.1 s before the labelled end of the speech."""
FINISHED = 0.5
"""Probability from which words count as finished."""
LIKELY_OVER = 0.7
"""The least probability of the end of the turn at which a speculative answer is worth its cost."""


class Pauses:
    """The pauses of a caller inside the latest turns, in seconds."""

    def __init__(self) -> None:
        self._turns: deque[list[float]] = deque(maxlen=TURNS_KEPT)
        self._now: list[float] = []

    def __iter__(self) -> Iterator[float]:
        for turn in self._turns:
            yield from turn
        yield from self._now

    @property
    def turns(self) -> int:
        """The number of turns remembered."""
        return len(self._turns)

    @property
    def per_turn(self) -> float:
        """The expected number of pauses in a turn of this caller."""
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
        """Add a silence of this length, after which the caller continued the turn."""
        self._now.append(pause)

    def turn_over(self) -> None:
        """The turn was committed."""
        self._turns.append(self._now)
        self._now = []

    def turn_goes_on(self) -> None:
        """The last committed turn was not over: the caller continues it."""
        if self._turns:
            self._now = self._turns.pop() + self._now


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """The lengths of silence, in seconds, that trigger something."""

    needed: float
    """The silence that ends the turn."""
    likely: float
    """The silence after which the turn is so probably over that a speculative answer may start."""


def cut_off_weight(risk: float) -> float:
    """The weight of a cut-off for which this share of pauses, 0 to 1, is taken for the end."""
    pairs = list(pairwise(CUT_OFF_WEIGHTS))
    (low, heavy), (high, light) = next((pair for pair in pairs if risk <= pair[1][0]), pairs[-1])
    return heavy * math.pow(risk / low, math.log(light / heavy) / math.log(high / low))


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpointing:
    """The endpointing rule of a call.

    `adaptive` weighs all evidence. Without it, only Smart Turn decides: an incomplete turn waits for the whole
    `fallback`.
    """

    stop: float
    """Seconds of silence after which the voice detector reports a stop; no shorter silence ends a turn."""
    fallback: float
    """The silence timeout: seconds of silence that end a turn when there is no evidence."""
    longest: float = 2.5
    """Seconds of silence that end a turn regardless of the evidence and the caller's habits."""
    adaptive: bool = True
    risk: float = RISK
    """Share of a caller's pauses that may be taken for the end of the turn, 0 to 1."""

    def judge(self, evidence: Evidence, pauses: Pauses) -> Silence:
        """Judge a silence after words with this evidence, from a caller with these pauses."""
        if not self.adaptive:
            finished = self.judges_finished(evidence)
            return Silence(needed=self.stop if finished else max(self.stop, self.fallback), likely=0.0)
        if not evidence.known:
            return Silence(needed=max(self.stop, self.fallback), likely=max(self.stop, self.fallback))
        over = evidence.probability
        odds = (1 - over) / over * pauses.per_turn * evidence.pauses_expected
        scale = pauses.scale(self.stop)
        weight = cut_off_weight(self.risk)
        # The Lomax density falls with the power shape + 1, the share of longer pauses with the power shape.
        needed = self._until(weight * odds * PAUSE_SCALE / scale, scale, PAUSE_SHAPE + 1)
        if evidence.leads_in:
            needed = max(needed, LEAD_IN_SILENCE)
        # Bayes: by now, the odds of going on have shrunk by the share of longer pauses.
        likely = min(self._until(odds * LIKELY_OVER / (1 - LIKELY_OVER), scale, PAUSE_SHAPE), needed)
        return Silence(needed=needed, likely=0.0 if likely <= self.stop else likely)

    def judges_finished(self, evidence: Evidence) -> bool:
        """Whether the words are more likely finished than not, if pauses were as frequent as ends."""
        return (evidence.probability if self.adaptive else evidence.sound or 0.0) >= FINISHED

    def _until(self, weighed: float, scale: float, power: float) -> float:
        """Seconds of silence at which `weighed` is 1 if it falls as (1 + silence beyond stop / scale)^-power."""
        beyond = scale * (math.pow(weighed, 1 / power) - 1) if weighed > 1 else 0.0
        # The voice detector judges whole windows: a wait of less than one is none.
        return min(self.stop + (beyond if beyond >= WINDOW else 0.0), max(self.longest, self.stop))
