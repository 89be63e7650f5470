"""How much silence ends the user's turn. Pure: evidence and times are passed in, seconds.

The evidence is how finished the words sound (Smart Turn), how finished they read (`SentenceEnds`), and how long this
caller has paused inside turns so far. Finished words need no more silence than the voice detector's own; the less
finished they are, the more, up to a bound.
"""

import math
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

# Logistic regression of "the turn is over" on the logit of Smart Turn's probability after 0.1 s of silence and on the
# base-10 log probability of a sentence end. Fitted with both classes weighing the same to 233 ends and 602 word ends
# inside sentences of 233 human prompts (Debian's asterisk-core-sounds, transcripts aligned by PocketSphinx). Trained
# on one half, tested on the other: of the word ends inside sentences that would be taken for the end at a threshold
# that finds 90 % of the real ends, 40 % remain with Smart Turn alone after 0.2 s of silence, 22 % with both.
SOUND_WEIGHT, READ_WEIGHT, BIAS = 0.60, 2.02, 2.03
LEAST_PROBABILITY = 1e-4

COMPLETE = 0.6
"""Combined probability from which the turn is over as soon as the voice detector says so."""
PAUSES_KEPT = 12
PAUSES_NEEDED = 2
"""Pauses of a caller from which something is known of the caller."""
BEYOND_PAUSE = 0.1
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


@dataclass(slots=True)
class Pauses:
    """How long a caller has paused inside turns, seconds; the latest are kept."""

    seconds: deque[float] = field(default_factory=lambda: deque(maxlen=PAUSES_KEPT))

    def add(self, pause: float) -> None:
        """The caller went on after so long a silence."""
        self.seconds.append(pause)

    @property
    def usual(self) -> float | None:
        """The longest but one in five; None while too little is known of the caller."""
        if len(self.seconds) < PAUSES_NEEDED:
            return None
        return _upper(self.seconds)


def _upper(values: Iterable[float]) -> float:
    ordered = sorted(values)
    return ordered[math.ceil(0.8 * len(ordered)) - 1]


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
        missing = max(0.0, 1 - evidence.probability / COMPLETE)
        if not missing:
            return self.stop
        bound = max(self.stop, self.fallback)
        if pauses.usual is not None:
            bound = max(bound, min(pauses.usual + BEYOND_PAUSE, LONGEST))
        # The root is steep where words are nearly finished: what is in doubt waits for some time at least.
        return self.stop + (bound - self.stop) * math.sqrt(missing)
