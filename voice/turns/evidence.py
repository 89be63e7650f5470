"""How finished the words before a silence are, by all that is known of them. Pure."""

import math
from dataclasses import dataclass

# Logistic regression of "the turn is over" on the logit of Smart Turn's probability after 0.1 s of silence and on how
# the words read. It was fitted, both classes weighing the same, to 225 ends and 439 gaps between words of 225 human
# prompts (Debian's asterisk-core-sounds, transcripts aligned by PocketSphinx, without those that the benchmark speaks),
# with a pause put into each gap. Fitted to one half and tried on the other: at a threshold that finds 90 % of the ends,
# 27 % of the pauses pass with Smart Turn alone and 21 % with both.
SOUND_WEIGHT, READ_WEIGHT, BIAS = 0.54, 1.62, 1.31
SOUND_ALONE_WEIGHT, SOUND_ALONE_BIAS = 0.61, -0.40
LEAST_PROBABILITY = 1e-4

HARDLY_FINISHED = 0.1
"""Probability of the end of a turn, pauses being as frequent as ends, up to which words are hardly finished: 2 % of the
prompts' ends and 44 % of the gaps between their words are below it."""
BEGINNING = 0.02
"""The same probability for words that are only the beginning of a request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What is known of the words before a silence."""

    sound: float | None = None
    """Smart Turn's probability that the turn is complete, 0 to 1; None without its verdict."""
    read: float | None = None
    """Base-10 log probability that a sentence ends after them; None without a model of the language."""
    whole: bool | None = None
    """For the agent they are a whole request (True) or only the beginning of one (False); None: it cannot tell."""

    @property
    def probability(self) -> float:
        """Probability that the turn is over, if pauses were as frequent as ends; 0 without any evidence."""
        if self.whole:
            return 1.0
        if self.sound is None:
            return 0.0
        weighed = self._weighed(self.sound)
        return weighed if self.whole is None else min(weighed, BEGINNING)

    @property
    def hardly_finished(self) -> bool:
        """Whether there is evidence, and it says that more words will follow."""
        known = self.sound is not None or self.whole is False
        return known and self.probability <= HARDLY_FINISHED

    def _weighed(self, sound: float) -> float:
        """The probability by sound and words."""
        sound = min(max(sound, LEAST_PROBABILITY), 1 - LEAST_PROBABILITY)
        logit = math.log(sound / (1 - sound))
        if self.read is None:
            return 1 / (1 + math.exp(-(SOUND_ALONE_WEIGHT * logit + SOUND_ALONE_BIAS)))
        return 1 / (1 + math.exp(-(SOUND_WEIGHT * logit + READ_WEIGHT * self.read + BIAS)))
