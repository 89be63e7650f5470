"""How often a recogniser may look at speech that is still going on, so that looking stays cheap. Pure."""

SHARE = 0.2
"""Of a processor core: what passes over unfinished speech may take, of all calls on one model together."""

LONGEST_PASS = 0.2
"""Seconds. A pass cannot be stopped, and one that runs when the user falls silent holds up the final one: a pass as
long as the silence that ends an utterance would cost more than partial texts are worth, so there is none."""

_WEIGHT = 0.3  # of the latest pass in the estimate


class Pace:
    """Says when the next partial pass may begin.

    Args:
        cost: Seconds that a pass takes, as a first estimate.
    """

    def __init__(self, cost: float) -> None:
        self.cost = cost
        """Seconds that the next pass will probably take."""
        self._free_at = float("-inf")

    def is_due(self, now: float) -> bool:
        """Whether a partial pass may begin, at `now` seconds of any monotonic clock."""
        return self.cost <= LONGEST_PASS and now >= self._free_at

    def took(self, began: float, ended: float) -> None:
        """Count a pass of any kind; on a machine that is too busy they take longer and so become fewer."""
        self.cost += _WEIGHT * (ended - began - self.cost)
        self._free_at = began + (ended - began) / SHARE
