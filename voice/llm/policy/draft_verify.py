"""The policy `draft_verify`: the fast tier drafts, the large one verifies. Pure: time is passed in.

The first sentence of the draft is spoken as soon as it is there, as with any policy. Once the draft is whole, the large
tier is asked whether it is right. The other sentences wait for its verdict, but no longer than until the first sentence
has been played. A draft that was found wrong has failed: the large tier answers in its place, or goes on from what was
heard (`Plan` does both).
"""

from dataclasses import dataclass, replace

from voice.llm.policy.best_of import FastFirst
from voice.llm.policy.plan import Plan
from voice.llm.policy.tier_statistics import TierStatistics
from voice.llm.policy.turn_info import ANY_TURN, TurnInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftVerify:
    """The fast tier drafts every answer, and the large one verifies it before its second sentence is spoken."""

    large: str
    fast: str
    bridge: bool = True
    name: str = "draft_verify"
    judged: str | None = None

    @property
    def tiers(self) -> tuple[str, ...]:
        """Large, fast."""
        return self.large, self.fast

    def plan(self, book: TierStatistics, request: TurnInfo = ANY_TURN) -> Plan:
        """Ask the fast tier; the large one for a verdict, or for the answer when the fast one's tail has passed."""
        plan = FastFirst(large=self.large, fast=self.fast, bridge=self.bridge, name=self.name).plan(book, request)
        return replace(plan, reason=f"{self.fast} drafts, {self.large} verifies", verifier=self.large)
