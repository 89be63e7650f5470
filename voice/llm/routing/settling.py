"""Keeps the tier that answers from changing in every turn: a caller hears two models as two voices. Pure."""

from dataclasses import dataclass

SETTLED_AFTER = 3
"""Turns from one change of tier to the earliest next one that nothing forces."""


@dataclass(frozen=True, slots=True)
class Route:
    """Where the turns of a call went lately.

    Parameters:
        tier: the tier that the latest one was routed to; None before the first.
        turns: how many turns in a row.
    """

    tier: str | None = None
    turns: int = 0

    def then(self, tier: str | None) -> "Route":
        """After a turn that was routed to `tier`; None, when its policy does not route, changes nothing."""
        if tier is None:
            return self
        return Route(tier, self.turns + 1 if tier == self.tier else 1)

    def keeps(self, wanted: str) -> str | None:
        """The tier that goes on answering although `wanted` would be chosen; None when the change may be made."""
        if self.tier in (None, wanted) or self.turns >= SETTLED_AFTER:
            return None
        return self.tier
