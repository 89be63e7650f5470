"""The probability that the words before a silence are finished, by all evidence. Pure."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from voice.language.turn_words import LeadIn
from voice.turns.words.agent_question import Asked

# Logistic regression of "the turn is over" on the logit of Smart Turn's probability after 0.1 s of silence, the
# language model's score of the words, and the logarithm of the turn's length. `tests.benchmarks.evidence_fit` makes it
# from 46 human speakers (104 ends, 22 pauses, 399 pauses inserted between two words) and, with less weight, from the
# synthetic voices of samples/. Judged by a fit without its own speaker, a person's end ranks above a pause in 86 % of
# all pairs and above an inserted one in 94 % (Smart Turn alone: 79 and 81 %); for 8 speakers outside the fit in 86 and
# 90 % (81 and 73 %; 61 ends, 21 pauses, 314 inserted).
SOUND_WEIGHT, READ_WEIGHT, SPOKEN_WEIGHT, BIAS = 0.30, 2.17, 1.94, 0.42
# The same fit without the language model's score, for a pipeline without such a model.
SOUND_ALONE_WEIGHT, SPOKEN_ALONE_WEIGHT, SOUND_ALONE_BIAS = 0.36, 2.17, -1.73
LEAST_PROBABILITY = 1e-3
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
    read: float | None = None
    """Base-10 log probability that a sentence ends after them; None without a language model."""
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
        """The probability by the language model's score and the turn's length; 0 without a language model."""
        return 0.0 if self.read is None else self._weighed(0.5)

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
