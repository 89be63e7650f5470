"""Draws seeded latencies: time to first token, stalls, errors, gaps between tokens, opening a connection. Pure."""

import math
import random
from dataclasses import dataclass

from pipelines.lab.simulator.profiles import Profile

STALL_ALPHA = 1.5
"""Exponent of the Pareto distribution of the delays of stalled calls; an assumption."""

STALL_WINDOW = 2.0
"""Seconds after which a provider's common stall state is drawn again; an assumption."""

STALL_CORRELATION = 0.5
"""Correlation of the stalls of two calls to one provider at the same time; an assumption."""

GAP_SHAPE = 4.0
"""Shape of the gamma distribution of the gaps between tokens; an assumption."""

HTTP_ROUND_TRIPS = 3
"""Round trips before a new HTTPS connection can carry a request: one for TCP, two for TLS."""

WEBSOCKET_ROUND_TRIPS = 4
"""The same for a WebSocket, whose upgrade takes one more."""

_MOST_TOKENS_A_CHUNK = 4
_SERVER_ERROR = 500


@dataclass(frozen=True, slots=True)
class FirstToken:
    """When a call's first token arrives.

    Parameters:
        after: seconds from the request.
        stalled: the call stalled.
        error: HTTP status of an error that arrives instead of the token, or None.
    """

    after: float
    stalled: bool
    error: int | None


class StallState:
    """Decides whether a provider's calls stall: a common state for all its calls, drawn again every `STALL_WINDOW`.

    A call follows the common state with probability sqrt(correlation), and otherwise a draw of its own. So any two
    calls in a window have that correlation, and each call keeps its probability of stalling.

    Args:
        provider: its name.
        seed: seed of the common state.
        correlation: of the stalls of two calls at the same time, 0 to 1.
    """

    def __init__(self, provider: str, seed: int, *, correlation: float = STALL_CORRELATION) -> None:
        self._key = f"{seed}:stalls:{provider}"
        self._followers = math.sqrt(correlation)

    def stalls(self, now: float, rate: float, rng: random.Random) -> bool:
        """Whether a call stalls; `now` is in seconds on any clock, `rate` is the share of calls that stall."""
        own, follows = rng.random(), rng.random() < self._followers
        # Seeded per window, so that the order of calls does not matter.
        luck = random.Random(f"{self._key}:{math.floor(now / STALL_WINDOW)}").random() if follows else own
        return luck < rate


class LatencyModel:
    """Draws the latencies of one model; the same seed and the same calls give the same draws.

    Args:
        profile: the model's figures.
        stalls: the stall state of its provider, which all the provider's models share.
        seed: seed of this model's draws.
    """

    def __init__(self, profile: Profile, stalls: StallState, seed: int) -> None:
        self.profile = profile
        self._stalls = stalls
        self._rng = random.Random(f"{seed}:{profile.name}")

    def first_token(self, now: float, *, uncached_tokens: int = 0) -> FirstToken:
        """Draw when the first token of a call arrives.

        Args:
            now: when the call is made, seconds on the clock of the stalls.
            uncached_tokens: tokens of its prefix that are not in the cache, so that the server reads them again.
        """
        profile, rng = self.profile, self._rng
        # Every call makes all draws, so that calls stay comparable between settings.
        usual = profile.p50 * math.exp(profile.sigma * rng.gauss(0.0, 1.0))
        stalled = self._stalls.stalls(now, profile.stall_rate, rng)
        stretch = rng.paretovariate(STALL_ALPHA)
        failed = rng.random() < profile.error_rate
        after = min(usual * stretch if stalled else usual, profile.longest)
        after = max(after, profile.rtt) + uncached_tokens / profile.prefill_tokens_per_s
        return FirstToken(after, stalled, _SERVER_ERROR if failed else None)

    def gap(self) -> float:
        """Draw the seconds between two tokens."""
        return self._rng.gammavariate(GAP_SHAPE, 1 / (GAP_SHAPE * self.profile.tokens_per_s))

    def chunk(self, tokens_left: int) -> int:
        """Draw the number of tokens of the next message: 1 to 4, with equal probability."""
        return min(self._rng.randint(1, _MOST_TOKENS_A_CHUNK), tokens_left)

    def connecting(self, *, websocket: bool) -> float:
        """Seconds before a new connection can carry its first request; loopback itself takes no time."""
        return self.profile.rtt * (WEBSOCKET_ROUND_TRIPS if websocket else HTTP_ROUND_TRIPS)
