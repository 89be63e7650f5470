"""Seeded latencies: time to first token, stalls, errors, token gaps and what a connection costs. Pure."""

import math
import random
from dataclasses import dataclass

from voice.simulator.timing.profiles import Profile

STALL_ALPHA = 1.5
"""Pareto exponent of how much longer a stalled call takes; an assumption."""

STALL_WINDOW = 2.0
"""Seconds that a provider's common stall state lasts; an assumption."""

STALL_CORRELATION = 0.5
"""Correlation of two calls' stalls at one provider at one time; an assumption."""

GAP_SHAPE = 4.0
"""Shape of the gamma distribution of the gaps between tokens; an assumption."""

HTTP_ROUND_TRIPS = 3
"""Round trips before a new HTTPS connection carries a request: TCP one, TLS two."""

WEBSOCKET_ROUND_TRIPS = 4
"""The same for a WebSocket, whose upgrade is one more."""

_MOST_TOKENS_A_CHUNK = 4
_SERVER_ERROR = 500


@dataclass(frozen=True, slots=True)
class FirstToken:
    """When a call's first token comes.

    Parameters:
        after: seconds from the request.
        stalled: the call is one of the stalled ones.
        error: an HTTP status that comes then instead of the token, or None.
    """

    after: float
    stalled: bool
    error: int | None


class StallState:
    """Whether a provider stalls: a state common to its calls that changes every `STALL_WINDOW`.

    A call follows the common state with probability sqrt(correlation) and its own luck otherwise, which gives any two
    calls of a window that correlation and leaves every single call's chance as it is.
    """

    def __init__(self, provider: str, seed: int) -> None:
        self._key = f"{seed}:stalls:{provider}"

    def stalls(self, now: float, rate: float, rng: random.Random) -> bool:
        """Draw one call's stall; `now` in seconds on any clock, `rate` the share of calls that stall."""
        own, follows = rng.random(), rng.random() < math.sqrt(STALL_CORRELATION)
        # Seeded by the window, so that the order of calls does not matter.
        luck = random.Random(f"{self._key}:{math.floor(now / STALL_WINDOW)}").random() if follows else own
        return luck < rate


class LatencyModel:
    """Draws the latencies of one model; the same seed and the same calls give the same draws.

    Args:
        profile: the model's figures.
        stalls: the stall state of its provider, shared with the provider's other models.
        seed: of this model's draws.
    """

    def __init__(self, profile: Profile, stalls: StallState, seed: int) -> None:
        self.profile = profile
        self._stalls = stalls
        self._rng = random.Random(f"{seed}:{profile.name}")

    def first_token(self, now: float, *, uncached_tokens: int = 0) -> FirstToken:
        """Draw one call.

        Args:
            now: when it is made, seconds on the clock of the stalls.
            uncached_tokens: tokens of its prefix that the server has to read again.
        """
        profile, rng = self.profile, self._rng
        # Every draw is made whatever the others gave, so that calls stay comparable between settings.
        usual = profile.p50 * math.exp(profile.sigma * rng.gauss(0.0, 1.0))
        stalled = self._stalls.stalls(now, profile.stall_rate, rng)
        stretch = rng.paretovariate(STALL_ALPHA)
        failed = rng.random() < profile.error_rate
        after = min(usual * stretch if stalled else usual, profile.longest)
        after = max(after, profile.rtt) + uncached_tokens / profile.prefill_tokens_per_s
        return FirstToken(after, stalled, _SERVER_ERROR if failed else None)

    def gap(self) -> float:
        """Seconds between two tokens."""
        return self._rng.gammavariate(GAP_SHAPE, 1 / (GAP_SHAPE * self.profile.tokens_per_s))

    def chunk(self, tokens_left: int) -> int:
        """How many tokens the next message carries: 1 to 4, evenly."""
        return min(self._rng.randint(1, _MOST_TOKENS_A_CHUNK), tokens_left)

    def connecting(self, *, websocket: bool) -> float:
        """Seconds before a new connection carries its first request; loopback itself costs nothing."""
        return self.profile.rtt * (WEBSOCKET_ROUND_TRIPS if websocket else HTTP_ROUND_TRIPS)
