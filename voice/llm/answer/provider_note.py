"""The metadata of a request from its provider, or from our service for it."""

from dataclasses import dataclass, replace

from voice.plain_text import plain_values

CUT_OFF = ("length", "max_tokens", "max_output_tokens", "model_context_window_exceeded", "content_filter", "refusal")
"""Finish reasons after which the last tool call may be incomplete or unwanted."""


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
    """What is known of a request so far; None for unknown.

    Parameters:
        speed: the requested speed; None for the provider's default.
        served: the speed that the provider reports, and bills.
        slowed: why the requested speed differs from the tier's settings; one clause.
        finish: the provider's word for the end of the answer, such as "stop" or "length".
        queued: seconds in the provider's queue before the prompt was read, by its own report.
        simulated: whether the provider reports a simulated answer.
        is_estimate: whether the reported usage is partly an estimate.
        rest: a pause for the tier from now on.
        room: the number of further requests within its limits.
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
        """The note, with its fields replaced by those set in the later one."""
        known = {name: plain_values(value) for name in self.__slots__ if (value := getattr(later, name)) is not None}
        return replace(self, **known)
