"""How often a recogniser may decode speech that is still going on, so that partial passes stay cheap. Pure."""

SHARE = 0.2
"""Share of a processor core that passes over unfinished speech may take, for all calls of a model together."""

LONGEST_PASS = 0.2
"""Seconds that a partial pass may take; models that need longer run none. A pass cannot be stopped, and one that runs
when the user falls silent delays the final pass. A pass as long as the silence that ends an utterance would cost more
than partial texts are worth."""

PASSES_AT_FADES = 0.3
"""Seconds of passes that may be made up for afterwards, where the moment of a pass matters: those of
two fades with tiny."""

_WEIGHT = 0.3  # of the latest pass in the estimate


class PassPacing:
    """Says when the next partial pass may begin.

    Args:
        cost: Seconds that a pass takes, as a first estimate.
    """

    def __init__(self, cost: float) -> None:
        self.cost = cost
        """Estimate of the seconds that the next pass takes."""
        self._free_at = float("-inf")

    def is_due(self, now: float, *, at_once: float = 0.0) -> bool:
        """Whether a partial pass may begin, at `now` seconds of any monotonic clock.

        Args:
            now: seconds.
            at_once: seconds of earlier passes that need not have been made up for by rest yet.
        """
        return self.cost <= LONGEST_PASS and now >= self._free_at - at_once / SHARE

    def took(self, began: float, ended: float) -> None:
        """Count a pass of any kind; on a busy machine passes take longer, and so there are fewer."""
        self.cost += _WEIGHT * (ended - began - self.cost)
        self.rest(began, ended)

    def rest(self, began: float, ended: float) -> None:
        """Count only the time of a pass that was given up; it says nothing of how long a whole one takes."""
        self._free_at = max(self._free_at, began) + (ended - began) / SHARE
