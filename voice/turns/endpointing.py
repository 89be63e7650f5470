"""How much silence ends the user's turn. Pure: evidence and times are passed in, seconds.

A silence ends the turn when the chance that the user would have gone on is small enough. Before a silence that chance
follows from how finished the words sound (Smart Turn) and read (`SentenceEnds`), and from how often this caller pauses
inside turns; while it lasts it falls with every moment, faster the shorter this caller's pauses are. So finished words
need no more silence than the voice detector's own, and a caller who keeps pausing is given time, as much as he took.
"""

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

# Logistic regression of "the turn is over" on the logit of Smart Turn's probability after 0.1 s of silence and on how
# the words read. Fitted with both classes weighing the same to 225 ends and 439 gaps between words of 225 human prompts
# (Debian's asterisk-core-sounds, transcripts aligned by PocketSphinx; those that the benchmark speaks left out), a
# pause put into each gap. Fitted to one half and tried on the other: of the pauses, those that pass at a threshold that
# finds 90 % of the ends are 27 % with Smart Turn alone and 21 % with both.
SOUND_WEIGHT, READ_WEIGHT, BIAS = 0.54, 1.62, 1.31
SOUND_ALONE_WEIGHT, SOUND_ALONE_BIAS = 0.61, -0.40
LEAST_PROBABILITY = 1e-4

RISK = 0.0125
"""Estimated chance of cutting the caller off that ends a silence, unless a call is set otherwise.

The rule applied offline to the evidence of the prompts above, a pause of 0.3 to 1.2 s in each that has a gap between
words, 16 a call: 5 % of the pauses are taken for the end. Without pauses 76 % of the ends need no wait,
5 % wait over 0.53 s.
"""
TURNS_KEPT = 8
TURNS_BEFORE, PAUSES_BEFORE = 1.0, 0.125
"""What is taken to be known of a caller before the first turn: one pause in eight turns."""
MOST_TURNS_PER_PAUSE = 48.0
"""No caller is trusted further not to pause."""
PAUSE_SHAPE, PAUSE_SCALE = 1.5, 0.1
"""Gamma prior on the rate at which pauses end, which makes their lengths Lomax distributed: 0.2 s beyond the voice
detector's silence on average before any was heard, with a long tail."""
PAUSES_LONG = 1.6
"""Of a caller who pauses in most turns the least finished words are taken for all after a silence that exceeds the
voice detector's by so many times what the longest pause did."""
HARDLY_FINISHED = 0.1
"""Probability of a turn that is over, pauses being as frequent as ends, up to which words are hardly finished: 2 % of
the prompts' ends, 44 % of the gaps between their words."""
BEGUN = 0.02
"""Probability, likewise, that words are all which only begin a request."""
HARDLY_LONGER = 1.7
"""Behind words that are hardly finished the fallback silence lasts so many times longer. In the offline replay 5 % of
the pauses are taken for the end with it instead of 8 %, and 1.6 % of the ends without pauses wait over 0.75 s."""
LONGEST = 2.0
"""Seconds of silence beyond which only a longer fallback waits, whatever words and habits say."""
LIKELY = 0.7
"""Chance that the turn is over from which an answer ahead is worth its cost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What is known of the words before a silence."""

    sound: float | None = None
    """Smart Turn's probability that the turn is complete, 0 to 1; None when it was not asked."""
    read: float | None = None
    """Base-10 log probability of a sentence end behind them; None when there is no model of the language."""
    whole: bool | None = None
    """They are a whole request to whoever answers (True), only the beginning of one (False), or it cannot be told."""

    @property
    def probability(self) -> float:
        """That the turn is over, were pauses as frequent as ends: all evidence weighed; 0 without any."""
        if self.whole:
            return 1.0
        if self.sound is None:
            return 0.0
        weighed = self._weighed(self.sound)
        return weighed if self.whole is None else min(weighed, BEGUN)

    @property
    def hardly_finished(self) -> bool:
        """Whether there is evidence, and it says that more is to come."""
        known = self.sound is not None or self.whole is False
        return known and self.probability <= HARDLY_FINISHED

    def _weighed(self, sound: float) -> float:
        """What sound and words say."""
        sound = min(max(sound, LEAST_PROBABILITY), 1 - LEAST_PROBABILITY)
        logit = math.log(sound / (1 - sound))
        if self.read is None:
            return 1 / (1 + math.exp(-(SOUND_ALONE_WEIGHT * logit + SOUND_ALONE_BIAS)))
        return 1 / (1 + math.exp(-(SOUND_WEIGHT * logit + READ_WEIGHT * self.read + BIAS)))


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
        """Whether the caller has paused in most turns, the one under way counted if it has a pause by now."""
        turns = [*self._turns, *([self._now] if self._now else [])]
        return 2 * sum(map(bool, turns)) > len(turns)

    def add(self, pause: float) -> None:
        """The caller went on with the turn after so long a silence."""
        self._now.append(pause)

    def turn_over(self) -> None:
        """The turn was committed."""
        self._turns.append(self._now)
        self._now = []

    def turn_goes_on(self) -> None:
        """The turn that was committed last was not over: the caller speaks again."""
        if self._turns:
            self._now = self._turns.pop() + self._now


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """What a silence means, seconds of it."""

    needed: float
    """That end the turn."""
    likely: float
    """After which the turn is so likely over that it may be answered ahead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpointing:
    """The rule of a call.

    `adaptive` weighs all evidence; without it Smart Turn alone says yes or no, and no means the whole `fallback`.
    """

    stop: float
    """Seconds of silence after which the voice detector reports a stop: the least that ends a turn."""
    fallback: float
    """Seconds of silence that end a turn whose words sound and read unfinished, unless the caller pauses longer, and
    more (`HARDLY_LONGER`) where they are hardly finished."""
    adaptive: bool = True
    risk: float = RISK
    """Estimated chance of cutting the caller off that ends a silence, 0 to 1."""

    def judge(self, evidence: Evidence, pauses: Pauses) -> Silence:
        """What a silence behind such words of such a caller means."""
        if not self.adaptive:
            believed = (evidence.sound or 0.0) >= 0.5
            return Silence(needed=self.stop if believed else max(self.stop, self.fallback), likely=0.0)
        beyond = [max(0.0, pause - self.stop) for pause in pauses]
        over, count = evidence.probability, len(beyond)
        turns_per_pause = min((TURNS_BEFORE + pauses.turns) / (PAUSES_BEFORE + count), MOST_TURNS_PER_PAUSE)
        going_on = (1 - over) / (1 - over + turns_per_pause * over)

        def until(remaining: float) -> float:
            """Seconds until so small a share of the caller's pauses lasts longer: the Lomax distribution's quantile."""
            if remaining >= 1:
                return self.stop
            scale, shape = PAUSE_SCALE + sum(beyond), PAUSE_SHAPE + count
            return self.stop + scale * (math.pow(max(remaining, 1e-9), -1 / shape) - 1)

        habit = self.stop + PAUSES_LONG * max(beyond, default=0.0) if pauses.are_a_habit else 0.0
        hardly = self.fallback * HARDLY_LONGER if evidence.hardly_finished else 0.0
        bound = max(self.stop, self.fallback, min(max(habit, hardly), LONGEST))
        needed = min(until(self.risk / going_on), bound) if going_on else self.stop
        # Bayes: of the chances at the end of speech, that of going on has shrunk to the share of longer pauses.
        odds = (1 - going_on) / going_on if going_on else math.inf
        likely = min(until(odds * (1 - LIKELY) / LIKELY), needed)
        return Silence(needed=needed, likely=0.0 if likely <= self.stop else likely)
