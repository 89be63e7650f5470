"""Gives requests on the virtual clock the times that recorded ones had, so that both can be compared turn by turn.

What then still differs is no luck, but what the virtual clock leaves out.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from latency.record.requests import RequestRecord
from latency.record.turn import ReportedTurn, TurnRecord
from pipelines.lab.whatif.contestant import Contestant
from pipelines.lab.whatif.virtual.wording import wording
from voice.simulator.timing.latency_model import FirstToken, LatencyModel, StallState
from voice.simulator.timing.profiles import Profile


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
        # What came before the last of the server's turns is not held again.
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
        request, first, whole, end = attempt.request, attempt.first_token, attempt.first_clause, attempt.end
        self._first, self._gap = profile.p50, 1 / profile.tokens_per_s
        if request is not None and first is not None:
            self._first = first - request
        elif request is not None and end is not None:
            # It was cancelled before: its token would have come later, nobody knows when.
            self._first = end - request + profile.p50
        if first is not None and whole is not None and clause > 1:
            self._gap = max(0.0, whole - first) / (clause - 1)

    def first_token(self, now: float, *, uncached_tokens: int = 0) -> FirstToken:
        """As recorded."""
        return FirstToken(self._first, stalled=False, error=None)

    def gap(self) -> float:
        """The same between all tokens, so that the first clause takes as long as it did."""
        return self._gap

    def chunk(self, tokens_left: int) -> int:
        """One token at a time."""
        return 1
