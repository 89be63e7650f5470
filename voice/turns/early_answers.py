"""Answers that begin during a turn's last words: the words that allow one, and the limit of wasted requests. Pure.

Whenever the voice fades, the recogniser gives the words so far and Smart Turn is asked. The voice fades at nearly all
ends, and some five times before. Half of the earlier fades are over before the words arrive, and most words do not read
like an end.
"""

import math

from voice.turns.evidence import Evidence

LIKELY = 0.65
"""The least probability of an end at which an answer begins. In 104 requests and sentences of the 46 speakers of the
fit, 74 % of the ends reach it, if the fade lasts until Smart Turn is asked, and so do 0.3 other fades per turn, whose
words arrive before the voice rises again. In 61 turns of 8 other speakers: 64 % and 0.3."""
LIKELY_BY_WORDS = 0.75
"""The same before Smart Turn has answered: 43 % of the ends, and outside the fit 34 %."""
MOST_A_TURN = 2
"""The most early answers per turn: after two wrong ones, the turn's end cannot be predicted."""
EXTRA = 0.4
"""Default limit of a call's wasted early requests, as a share of its turns."""


def seems_to_end(evidence: Evidence) -> bool:
    """Whether the words suggest that the turn is about to end; knowledge of requests outranks probability."""
    if evidence.is_whole:
        return True
    if evidence.whole is False or evidence.leads_in or evidence.pauses_expected > 1:
        return False
    if evidence.sound is None:
        return evidence.probability_by_words >= LIKELY_BY_WORDS
    return evidence.probability >= LIKELY


class ExtraRequests:
    """Counts a call's wasted early requests, and decides whether another may be risked.

    An early request is allowed only if the call would stay within its share, rounded up to a whole request, even if
    that request is wasted. Other wasted requests do not count: any kind of speculation makes them.

    Args:
        share: the most wasted early requests per turn.
    """

    def __init__(self, share: float = EXTRA) -> None:
        self.share = share
        self.turns = 0
        """Committed turns."""
        self.made = 0
        """Wasted early requests."""

    def allow(self, *, replaced: bool = False) -> bool:
        """Whether the present turn may risk an early request; `replaced` if it replaces another early one."""
        return self.made + replaced + 1 <= math.ceil(self.share * (self.turns + 1) - 1e-9)

    def turn_over(self) -> None:
        """A turn was committed."""
        self.turns += 1

    def turn_goes_on(self) -> None:
        """The last committed turn was not over."""
        self.turns = max(0, self.turns - 1)

    def wasted(self) -> None:
        """An early answer was discarded."""
        self.made += 1
