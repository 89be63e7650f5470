"""Answers begun while the last words are still spoken: to which words, and at the risk of how many requests. Pure.

The recogniser gives the words so far whenever the voice fades, which it does at nearly all ends and some five times
before; Smart Turn is asked meanwhile. Half of the other fades are over before the words are there, and most words do
not read like an end.
"""

import math

from voice.turns.evidence import Evidence

LIKELY = 0.65
"""Probability of an end from which an answer is begun. In 104 requests and sentences of 46 speakers, to whom the
evidence was fitted, 74 % of the ends reach it when Smart Turn is asked at a fade that lasts, and 0.3 other fades of
each turn do whose words are there before the voice rises again; of 61 turns of 8 other speakers 64 % and 0.3."""
LIKELY_BY_WORDS = 0.75
"""The same while Smart Turn has not answered: 43 % of the ends, and outside the fit 34 %."""
MOST_A_TURN = 2
"""Early answers that a turn may start: after two wrong ones it is not the kind of turn that can be foreseen."""
EXTRA = 0.4
"""Early requests that a call may waste, as a share of its turns, unless a call sets another."""


def seems_to_end(evidence: Evidence) -> bool:
    """Whether words are those of a turn that is about to end; what is known of requests outranks what is likely."""
    if evidence.is_whole:
        return True
    if evidence.whole is False or evidence.leads_in or evidence.pauses_expected > 1:
        return False
    if evidence.sound is None:
        return evidence.probability_by_words >= LIKELY_BY_WORDS
    return evidence.probability >= LIKELY


class ExtraRequests:
    """Counts a call's early requests that were wasted, and says whether another one may be risked.

    An early request is risked only if the call stays within its share, rounded up to a whole request, even when that
    request is wasted. Requests that are wasted without having been early are none of its business: they are made, and
    wasted, with any kind of speculation.

    Args:
        share: wasted early requests for each turn, at most.
    """

    def __init__(self, share: float = EXTRA) -> None:
        self.share = share
        self.turns = 0
        """Turns that were committed."""
        self.made = 0
        """Early requests that were wasted."""

    def allow(self, *, replaced: bool = False) -> bool:
        """Whether the present turn may risk an early request; `replaced` if it gives up another early one for it."""
        return self.made + replaced + 1 <= math.ceil(self.share * (self.turns + 1) - 1e-9)

    def turn_over(self) -> None:
        """A turn was committed."""
        self.turns += 1

    def turn_goes_on(self) -> None:
        """The turn that was committed last was not over."""
        self.turns = max(0, self.turns - 1)

    def wasted(self) -> None:
        """An early answer was discarded."""
        self.made += 1
