"""The probability that the words before a silence are finished, by all evidence. Pure."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from voice.language.turn_words import LeadIn
from voice.turns.words.agent_question import Asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """A logistic regression of "the turn is over"."""

    bias: float
    sound: float
    """Of the log odds of Smart Turn's probability after 0.1 s of silence."""
    words: float
    """Of how the words read: by a language model, the log odds of `Evidence.ends`; by trigrams, `Evidence.read`."""
    spoken: float
    """Of the natural logarithm of the turn's seconds."""


# `tests.benchmarks.evidence_fit` makes them from 24 human speakers of samples/people (56 ends, 13 pauses, 180 pauses
# inserted between two words; the words as Whisper tiny.en hears them) and, with less weight, from the synthetic voices
# of samples/. For the 24 other speakers, a person's end ranks above a pause in 90 % of all pairs and above an inserted
# one in 95 % (with trigrams 83 and 94 %; 65 ends, 13 pauses, 285 inserted).
WITH_MODEL = Weights(bias=0.47, sound=0.45, words=0.59, spoken=1.10)
WITH_TRIGRAMS = Weights(bias=-0.19, sound=0.37, words=1.67, spoken=1.97)
WITHOUT_WORDS = Weights(bias=-1.87, sound=0.41, words=0.0, spoken=2.20)
LEAST_PROBABILITY = 1e-3
LEAST_ENDS = 1e-4
"""The same for `Evidence.ends`."""
LEAST_READ, MOST_READ = -2.5, -0.5
"""Bounds of `Evidence.read` in the fit; scores beyond them carry no further information."""
LEAST_SPOKEN, MOST_SPOKEN = 1.0, 4.0
"""Bounds of the turn's length in the fit, seconds."""
TYPICAL_SPOKEN = 2.0
"""Seconds; the assumed length of a turn whose length is unknown or uninformative."""

BEGINNING = 0.02
"""Probability of the end of a turn after the mere beginning of a request, if pauses were as frequent as ends."""
GROUPED = 8.0
"""The factor by which pauses are more likely between the groups of a number or a spelling. Set by hand: of ten digits
said in three groups, two in three are followed by a pause, where one turn in five has a pause otherwise."""
ANSWERS: Mapping[Asked | None, tuple[LeadIn, ...]] = {"yes_no": ("yes", "no"), "offer": ("no",)}
"""The lead-ins that answer each kind of question. A yes to an offer announces a request."""
FEWEST_SYMBOLS = 3
"""Consecutive digits or letters that begin a number or a spelling without being asked for."""
ENOUGH_DIGITS = 10
"""Digits of a whole telephone number; the length of other numbers is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The evidence about the words before a silence."""

    sound: float | None = None
    """Smart Turn's probability that the turn is complete, 0 to 1; None without its verdict."""
    ends: float | None = None
    """The probability, 0 to 1, that the caller's message ends after them, by a language model (`EndReader`); None
    without one, or without its answer."""
    read: float | None = None
    """Base-10 log probability that a sentence ends after them, by the trigram model; None without it."""
    spoken: float | None = None
    """Seconds from the turn's first sound to the end of its latest, pauses included; None if unknown."""
    whole: bool | None = None
    """Whether the agent takes them for a whole request (True) or only the beginning of one (False); None if it cannot
    tell."""
    lead_in: LeadIn | None = None
    """The kind of lead-in if the words are nothing else; None otherwise."""
    asked: Asked | None = None
    """The kind of answer that the agent's last words asked for; None if they asked nothing."""
    symbols: int = 0
    """The number of digits or letters, said one by one, at their end."""

    @property
    def is_whole(self) -> bool:
        """Whether the words are complete: a whole request, or the yes or no that the agent asked for."""
        if self.lead_in is None:
            return bool(self.whole)
        return self.lead_in in ANSWERS.get(self.asked, ())

    @property
    def leads_in(self) -> bool:
        """Whether a request is likely to follow in the same turn: the words are a lead-in that answers nothing."""
        return self.lead_in is not None and not self.is_whole

    @property
    def pauses_expected(self) -> float:
        """The factor by which a pause is more likely than usual: 1, or `GROUPED` inside a number or a spelling."""
        asked_for = self.asked in ("number", "spelling")
        inside = (1 if asked_for else FEWEST_SYMBOLS) <= self.symbols
        enough = self.symbols >= ENOUGH_DIGITS and self.asked != "spelling"
        return GROUPED if inside and not enough and not self.is_whole else 1.0

    @property
    def known(self) -> bool:
        """Whether there is any evidence of whether more words will follow."""
        return self.sound is not None or self.whole is False or self.is_whole

    @property
    def probability(self) -> float:
        """The probability that the turn is over, if pauses were as frequent as ends; 0 without any evidence."""
        if self.is_whole:
            return 1.0
        if self.sound is None:
            return BEGINNING if self.whole is False else 0.0
        weighed = self._weighed(self.sound)
        return min(weighed, BEGINNING) if self.whole is False else weighed

    @property
    def probability_by_words(self) -> float:
        """The probability by how the words read and by the turn's length; 0 if no model has read them."""
        return 0.0 if self.read is None and self.ends is None else self._weighed(0.5)

    def _weighed(self, sound: float) -> float:
        """The probability by sound, words and length."""
        weights = self._weights
        spoken = math.log(min(max(self.spoken or TYPICAL_SPOKEN, LEAST_SPOKEN), MOST_SPOKEN))
        logit = (
            weights.bias
            + weights.sound * log_odds(sound, LEAST_PROBABILITY)
            + weights.words * self._words
            + weights.spoken * spoken
        )
        return 1 / (1 + math.exp(-logit))

    @property
    def _weights(self) -> Weights:
        """The weights for the models that have read the words."""
        if self.ends is not None:
            return WITH_MODEL
        return WITHOUT_WORDS if self.read is None else WITH_TRIGRAMS

    @property
    def _words(self) -> float:
        """How the words read, as the weights take it."""
        if self.ends is not None:
            return log_odds(self.ends, LEAST_ENDS)
        return 0.0 if self.read is None else min(max(self.read, LEAST_READ), MOST_READ)


def log_odds(probability: float, least: float) -> float:
    """The logarithm of the odds, with the probability kept at least `least` from 0 and 1."""
    bounded = min(max(probability, least), 1 - least)
    return math.log(bounded / (1 - bounded))
