"""What a provider, or our service for it, says about a request beside its answer."""

from dataclasses import dataclass, replace

from voice.plain_text import plain_values

CUT_OFF = ("length", "max_tokens", "max_output_tokens", "model_context_window_exceeded", "content_filter", "refusal")
"""Why an answer ends whose last tool call may not be whole, or not be wanted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimitPause:
    """A tier should not be asked for a while.

    Parameters:
        seconds: for how long.
        why: one clause that follows the tier's name.
    """

    seconds: float
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RemainingRequests:
    """How many more requests a tier's rate limits allow.

    Parameters:
        requests: that many.
        seconds: until the limits are whole again.
    """

    requests: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderNote:
    """What is known of a request so far; None is unknown, or was not said.

    Parameters:
        speed: the speed that was asked for; None for the provider's usual one.
        served: the speed at which the provider says it answers, and bills.
        slowed: why another speed was asked for than the tier's settings name; one clause.
        finish: why the provider says that its answer ended there, in its own word, such as "stop" or "length".
        queued: seconds that the provider says the request waited before its prompt was read.
        simulated: whether the provider says that its answer is simulated.
        is_estimate: the usage that is reported for it is partly an estimate.
        rest: the tier should be left alone from now on.
        room: how many more requests its limits allow.
    """

    speed: str | None = None
    served: str | None = None
    slowed: str | None = None
    finish: str | None = None
    queued: float | None = None
    simulated: bool | None = None
    is_estimate: bool | None = None
    rest: RateLimitPause | None = None
    room: RemainingRequests | None = None

    def updated(self, later: "ProviderNote") -> "ProviderNote":
        """The same, with whatever the later note knows in its place."""
        known = {name: plain_values(value) for name in self.__slots__ if (value := getattr(later, name)) is not None}
        return replace(self, **known)
