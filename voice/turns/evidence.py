"""How finished the words before a silence are, by all that is known of them. Pure."""

import math
from dataclasses import dataclass

# Logistic regression of "the turn is over" on the logit of Smart Turn's probability after 0.1 s of silence, on how the
# words read, and on the logarithm of how long the caller has spoken. `pipelines.curve.fit` makes it, both classes and
# all sources weighing about the same, from 46 human speakers (104 ends, 28 pauses, 245 gaps between words with a pause
# put into each) and from the synthetic voices of samples/ (54 ends, 12 pauses, 55 gaps). Judged by a fit without its
# own source, a human end has the higher probability in 88 % of all pairs with a pause and in 96 % with a gap (Smart
# Turn alone: 84 and 86 %); with 6 telephone callers outside the fit, in 86 and 94 % (77 and 83 %; 44 ends, 21 pauses,
# 147 gaps).
SOUND_WEIGHT, READ_WEIGHT, SPOKEN_WEIGHT, BIAS = 0.37, 1.72, 1.67, 0.46
# The same without how the words read, for a pipeline without a model of the language.
SOUND_ALONE_WEIGHT, SPOKEN_ALONE_WEIGHT, SOUND_ALONE_BIAS = 0.43, 1.97, -1.35
LEAST_PROBABILITY = 1e-3
LEAST_READ, MOST_READ = -2.5, -0.5
"""Bounds of `Evidence.read` in the fit; beyond them the model of the language knows no more."""
LEAST_SPOKEN, MOST_SPOKEN = 0.7, 4.0
"""Seconds; what is shorter or longer counts as this long."""
TYPICAL_SPOKEN = 2.0
"""Seconds; the length assumed of a turn whose length is unknown or says nothing."""

BEGINNING = 0.02
"""Probability of the end of a turn, pauses being as frequent as ends, after words that are only the beginning of a
request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What is known of the words before a silence."""

    sound: float | None = None
    """Smart Turn's probability that the turn is complete, 0 to 1; None without its verdict."""
    read: float | None = None
    """Base-10 log probability that a sentence ends after them; None without a model of the language."""
    spoken: float | None = None
    """Seconds from the turn's first sound to the end of its latest, pauses included; None: unknown."""
    whole: bool | None = None
    """For the agent they are a whole request (True) or only the beginning of one (False); None: it cannot tell."""

    @property
    def known(self) -> bool:
        """Whether there is any evidence of whether more words will follow."""
        return self.sound is not None or self.whole is not None

    @property
    def probability(self) -> float:
        """Probability that the turn is over, if pauses were as frequent as ends; 0 without any evidence."""
        if self.whole:
            return 1.0
        if self.sound is None:
            return BEGINNING if self.whole is False else 0.0
        weighed = self._weighed(self.sound)
        return weighed if self.whole is None else min(weighed, BEGINNING)

    def _weighed(self, sound: float) -> float:
        """The probability by sound, words and length."""
        sound = min(max(sound, LEAST_PROBABILITY), 1 - LEAST_PROBABILITY)
        logit = math.log(sound / (1 - sound))
        spoken = math.log(min(max(self.spoken or TYPICAL_SPOKEN, LEAST_SPOKEN), MOST_SPOKEN))
        if self.read is None:
            logit = SOUND_ALONE_WEIGHT * logit + SPOKEN_ALONE_WEIGHT * spoken + SOUND_ALONE_BIAS
        else:
            read = min(max(self.read, LEAST_READ), MOST_READ)
            logit = SOUND_WEIGHT * logit + READ_WEIGHT * read + SPOKEN_WEIGHT * spoken + BIAS
        return 1 / (1 + math.exp(-logit))
