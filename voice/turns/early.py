"""Answers begun while the last words are still spoken: to which words, and at the risk of how many requests. Pure.

The recogniser gives the words so far whenever the voice fades, which it does at most ends and now and then between two
words. Most such words do not read like an end, and are not answered.
"""

from voice.turns.evidence import Evidence

READS_LIKE_AN_END = -0.85
"""Base-10 log probability of a sentence's end from which words read as if the turn were about to end: 86 % of 104
requests and sentences of some 50 speakers do at their end; the value was chosen on them."""
MOST_A_TURN = 2
"""Early answers that a turn may start: after two wrong ones it is not the kind of turn that can be foreseen."""
EXTRA = 0.4
"""Requests beyond one for each turn that a call may make, as a share of its turns, unless a call sets another."""


def seems_to_end(evidence: Evidence) -> bool:
    """Whether words read as if the turn were about to end; what is known of requests outranks the model."""
    if evidence.is_whole:
        return True
    if evidence.whole is False or evidence.leads_in or evidence.pauses_expected > 1:
        return False
    return evidence.read is not None and evidence.read >= READS_LIKE_AN_END


class ExtraRequests:
    """Counts a call's requests beyond one for each turn, and says whether an early one may be risked.

    An early request is risked only if the call stays within its share even when that request is wasted. Requests that
    are wasted for other reasons count as well, but nothing forbids them.

    Args:
        share: extra requests for each turn, at most.
    """

    def __init__(self, share: float = EXTRA) -> None:
        self.share = share
        self.turns = 0
        """Turns that were committed."""
        self.made = 0
        """Requests beyond one for each turn, those included that answered a pause."""

    def allow(self, *, replaced: bool = False) -> bool:
        """Whether the present turn may risk a request; `replaced` if it also gives up one that is under way."""
        return self.made + replaced + 1 <= self.share * (self.turns + 1)

    def turn_over(self) -> None:
        """A turn was committed; its own request is none of the extra ones."""
        self.turns += 1

    def turn_goes_on(self) -> None:
        """The turn that was committed last was not over: its request answered a pause."""
        if self.turns:
            self.turns -= 1
            self.made += 1

    def wasted(self) -> None:
        """A speculative answer was discarded."""
        self.made += 1
