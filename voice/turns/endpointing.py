"""How much silence ends the user's turn. Pure: evidence and times are passed in, seconds.

The evidence is how finished the words sound (Smart Turn), how finished they read (`SentenceEnds`), and whether they are
a whole request. Finished words need no more silence than the voice detector's own; the less finished they are, the
more, up to a bound. A caller who usually pauses inside turns is given more time: the bound lies beyond the usual pause,
and it takes better evidence to do without a wait.
"""

import math
from collections import deque
from dataclasses import dataclass

# Logistic regression of "the turn is over" on the logit of Smart Turn's probability after 0.1 s of silence and on the
# base-10 log probability of a sentence end. Fitted with both classes weighing the same to 233 ends and 602 word ends
# inside sentences of 233 human prompts (Debian's asterisk-core-sounds, transcripts aligned by PocketSphinx). Trained
# on one half, tested on the other: of the word ends inside sentences that would be taken for the end at a threshold
# that finds 90 % of the real ends, 40 % remain with Smart Turn alone after 0.2 s of silence, 22 % with both.
SOUND_WEIGHT, READ_WEIGHT, BIAS = 0.60, 2.02, 2.03
LEAST_PROBABILITY = 1e-4

COMPLETE, COMPLETE_IF_PATIENT = 0.6, 0.9
"""Combined probability from which the turn is over as soon as the voice detector says so; the second for a caller who
usually pauses inside turns."""
DOUBT = 1 / 3
"""Exponent by which the silence grows with what is missing to completeness: words in doubt wait for most of it."""
TURNS_KEPT = 8
PAUSE = 0.3
"""Seconds from which a usual silence inside turns is a habit of the caller's."""
BEYOND_PAUSE = 0.35
"""Seconds of silence beyond the caller's usual pause before unfinished words are taken for all."""
LONGEST = 2.0
"""Seconds of silence that end any turn, whatever the caller's habits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What is known of the words before a silence."""

    sound: float | None = None
    """Smart Turn's probability that the turn is complete, 0 to 1; None when it was not asked."""
    read: float | None = None
    """Base-10 log probability of a sentence end behind them; None when there is no model of the language."""
    whole: bool = False
    """They are a whole request to whoever answers."""

    @property
    def probability(self) -> float:
        """That the turn is over: both kinds of evidence weighed against each other; 0 without any."""
        if self.whole:
            return 1.0
        if self.sound is None:
            return 0.0
        if self.read is None:
            return self.sound
        sound = min(max(self.sound, LEAST_PROBABILITY), 1 - LEAST_PROBABILITY)
        return 1 / (1 + math.exp(-(SOUND_WEIGHT * math.log(sound / (1 - sound)) + READ_WEIGHT * self.read + BIAS)))


class Pauses:
    """How long a caller has paused inside turns, seconds."""

    def __init__(self) -> None:
        self._longest: deque[float] = deque(maxlen=TURNS_KEPT)
        self._now = 0.0

    def add(self, pause: float) -> None:
        """The caller went on with the turn after so long a silence."""
        self._now = max(self._now, pause)

    def turn_over(self) -> None:
        """The turn was committed."""
        self._longest.append(self._now)
        self._now = 0.0

    def turn_goes_on(self) -> None:
        """The turn that was committed last was not over: the caller speaks again."""
        if self._longest:
            self._now = max(self._now, self._longest.pop())

    @property
    def usual(self) -> float:
        """The longest pause of a turn, exceeded in less than a quarter of the latest turns."""
        ordered = sorted(self._longest, reverse=True)
        return ordered[len(ordered) // 4] if ordered else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpointing:
    """The rule of a call.

    `adaptive` weighs all evidence; without it Smart Turn alone says yes or no, and no means the whole `fallback`.
    """

    stop: float
    """Seconds of silence after which the voice detector reports a stop: the least that ends a turn."""
    fallback: float
    """Seconds of silence that end a turn whose words sound and read unfinished."""
    adaptive: bool = True

    def silence_needed(self, evidence: Evidence, pauses: Pauses) -> float:
        """Seconds of silence that end the turn."""
        if not self.adaptive:
            return self.stop if (evidence.sound or 0.0) >= 0.5 else max(self.stop, self.fallback)
        bound, complete = max(self.stop, self.fallback), COMPLETE
        if pauses.usual >= PAUSE:
            bound, complete = max(bound, min(pauses.usual + BEYOND_PAUSE, LONGEST)), COMPLETE_IF_PATIENT
        missing = max(0.0, 1 - evidence.probability / complete)
        return self.stop + (bound - self.stop) * math.pow(missing, DOUBT)
