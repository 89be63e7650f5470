"""The times of virtual turns' requests: drawn, or as recorded, to compare virtual and real turns one by one.

With recorded times, any difference is due to the parts that the virtual clock leaves out.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from latency.record.requests import RequestRecord
from latency.record.turn import ReportedTurn, TurnRecord
from pipelines.lab.simulator.latency_model import STALL_CORRELATION, FirstToken, LatencyModel, StallState
from pipelines.lab.simulator.profiles import Profile
from pipelines.lab.whatif.contestants import Contestant
from pipelines.lab.whatif.virtual_answer import wording

MOST_REQUESTS = 64
"""More requests than any turn makes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Randomness:
    """The random parts of the simulation."""

    seed: int = 1
    stalls: bool = True
    """Whether one call in a hundred stalls."""
    correlated: bool = True
    """Whether calls to one provider stall together."""


class Draws(Protocol):
    """Gives each request its latency model."""

    def turn(self, position: int) -> None:
        """A turn begins."""

    def model(self, role: str) -> LatencyModel:
        """The model for the turn's next request to a tier."""


class LatencyDraws:
    """Latency models for single requests, seeded by the turn and the request.

    A turn has the same draws with every policy, with stalls and without, so differences are not due to chance. The
    models of one provider share their stalls.

    Args:
        tiers: by role.
        chance: the seed, and whether requests stall.
    """

    def __init__(self, tiers: Mapping[str, Contestant], chance: Randomness) -> None:
        correlation = STALL_CORRELATION if chance.correlated else 0.0
        self._seed, self._position, self._requests = chance.seed, 0, Counter[str]()
        self._profiles = {
            role: tier.profile if chance.stalls else replace(tier.profile, stall_rate=0.0)
            for role, tier in tiers.items()
        }
        self._places = {role: place for place, role in enumerate(tiers)}
        states = {
            provider: StallState(provider, chance.seed, correlation=correlation)
            for provider in {profile.provider for profile in self._profiles.values()}
        }
        self._states = {role: states[profile.provider] for role, profile in self._profiles.items()}

    def turn(self, position: int) -> None:
        """A turn begins."""
        self._position = position
        self._requests.clear()

    def model(self, role: str) -> LatencyModel:
        """The model for the turn's next request to a tier."""
        number = self._requests[role]
        self._requests[role] += 1
        request = (self._position * len(self._places) + self._places[role]) * MOST_REQUESTS + number
        # Each seed has its own turns; nobody waits for 2^40 requests.
        return LatencyModel(self._profiles[role], self._states[role], (self._seed << 40) + request)


class PairedDraws:
    """The times of recorded requests, by turn and tier, in order.

    Args:
        tiers: by role.
        turns: the recorded turns, in the order in which they are held again.
    """

    def __init__(self, tiers: Mapping[str, Contestant], turns: Sequence[TurnRecord]) -> None:
        self._profiles = {role: tier.profile for role, tier in tiers.items()}
        self._turns, self._turn = turns, turns[0]
        self._requests = Counter[str]()

    def turn(self, position: int) -> None:
        """A turn begins."""
        self._turn = self._turns[position]
        self._requests.clear()

    def model(self, role: str) -> LatencyModel:
        """The times of the turn's next request to a tier; its usual ones if none was recorded."""
        # Only the last of the server's turns is held again.
        last: ReportedTurn = self._turn.server_turns[-1] if self._turn.server_turns else self._turn
        made = [attempt for attempt in last.attempts if attempt.tier == role]
        number = self._requests[role]
        self._requests[role] += 1
        attempt = made[number] if number < len(made) else RequestRecord()
        return _Recorded(self._profiles[role], attempt, clause=wording(self._turn.said or "").first_clause)


class _Recorded(LatencyModel):
    """The times of one request."""

    def __init__(self, profile: Profile, attempt: RequestRecord, *, clause: int) -> None:
        super().__init__(profile, StallState(profile.provider, 0), 0)
        request, first, end = attempt.request, attempt.first_token, attempt.end
        # An introduction is part of the first clause.
        whole = attempt.first_clause if attempt.continued is None else attempt.continued
        self._first, self._gap = profile.p50, 1 / profile.tokens_per_s
        if request is not None and first is not None:
            self._first = first - request
        elif request is not None and end is not None:
            # It was cancelled before its first token, whose time is unknown.
            self._first = end - request + profile.p50
        if first is not None and whole is not None and clause > 1:
            self._gap = max(0.0, whole - first) / (clause - 1)

    def first_token(self, now: float, *, uncached_tokens: int = 0) -> FirstToken:
        """As recorded."""
        return FirstToken(self._first, stalled=False, error=None)

    def gap(self) -> float:
        """The same gap between all tokens, so that the first clause takes as long as recorded."""
        return self._gap

    def chunk(self, tokens_left: int) -> int:
        """One token at a time."""
        return 1
