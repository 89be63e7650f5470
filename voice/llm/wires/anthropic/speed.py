"""The speed of a call's requests. Pure: instants are passed in.

Anthropic's fast speed has its own limits and its own prompt cache. So a call keeps its speed, and once it has left the
fast one, it does not return to it.
"""

from voice.llm.answer.provider_note import RateLimitPause

FAST, STANDARD = "fast", "standard"
REFUSED_FOR = 30.0
"""Seconds for which new calls avoid the fast speed after a refusal without a stated duration."""


class FastPool:
    """The state of the fast speed's limits, shared by all calls."""

    def __init__(self) -> None:
        self._closed_until = float("-inf")
        self._why = ""

    def close(self, rest: RateLimitPause, now: float) -> None:
        """Keep new calls away from the fast speed for a while."""
        self._closed_until, self._why = max(self._closed_until, now + rest.seconds), rest.why

    def closed(self, now: float) -> str | None:
        """Why a new call should not use the fast speed, or None."""
        return self._why if now < self._closed_until else None


class CallSpeed:
    """The speed of one call's requests.

    Args:
        wanted: the configured speed, "fast" or "standard"; None for the provider's default.
        pool: what all calls know of the fast speed.
    """

    def __init__(self, wanted: str | None, pool: FastPool) -> None:
        self.wanted = wanted
        self._pool = pool
        self._is_begun = False
        self._why: str | None = None
        self._is_said = False

    @property
    def current(self) -> str | None:
        """The speed of the next request."""
        return STANDARD if self.wanted == FAST and self._why is not None else self.wanted

    def use(self, wanted: str | None) -> None:
        """Change the speed at the caller's request, and check again whether the fast one is available."""
        self.wanted, self._is_begun = wanted, self._why is not None

    def begin(self, now: float) -> None:
        """Begin a request; the first one of the call checks whether the fast speed is available."""
        if not self._is_begun:
            self._is_begun = True
            self._why = self._pool.closed(now) if self.wanted == FAST else None

    def leave(self, rest: RateLimitPause, now: float) -> None:
        """Make the rest of the call's requests at standard speed, and keep new calls away from the fast one."""
        self._pool.close(rest, now)
        if self.current == FAST:
            self._why = rest.why

    def news(self) -> str | None:
        """Why the fast speed was left; returned once, None before and after."""
        if self._why is None or self._is_said:
            return None
        self._is_said = True
        return self._why
