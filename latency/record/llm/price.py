"""What a language model's tokens are billed at. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from latency.record.llm.speed import USUAL_SPEEDS, same_name
from latency.record.requests import AttemptRecord, Tokens
from latency.record.units import Number

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars for a million tokens, at the provider's usual speed."""

    input: Number
    """Tokens of the request that were not cached."""
    output: Number
    """Tokens of the answer, thoughts included."""
    cached_input: Number | None = None
    """Tokens of the request that the provider had cached; None: no cheaper than others."""
    cache_write: Number | None = None
    """Tokens of the request that the provider has put into its cache; None: no dearer than others."""
    speeds: Mapping[str, Number] = field(default_factory=dict)
    """What other speeds cost, as multiples of this price, by the provider's name of the speed."""

    def at(self, speed: str | None) -> "Price | None":
        """The price at a speed, such as "fast"; None for the usual one. The result is None for an unknown speed."""
        if speed is None or speed in USUAL_SPEEDS:
            return self
        times = {same_name(name): factor for name, factor in self.speeds.items()}
        factor = self.speeds.get(speed, times.get(same_name(speed)))
        if factor is None:
            return None
        return Price(
            input=self.input * factor,
            output=self.output * factor,
            cached_input=None if self.cached_input is None else self.cached_input * factor,
            cache_write=None if self.cache_write is None else self.cache_write * factor,
        )

    def usd(self, tokens: Tokens) -> float | None:
        """What a request costs, in US dollars; None when its tokens are unknown."""
        if tokens.prompt is None or tokens.completion is None:
            return None
        cached = min(tokens.cached or 0, tokens.prompt)
        written = min(tokens.cache_written or 0, tokens.prompt - cached)
        cheap = self.input if self.cached_input is None else self.cached_input
        dear = self.input if self.cache_write is None else self.cache_write
        rest = tokens.prompt - cached - written
        return (rest * self.input + cached * cheap + written * dear + tokens.completion * self.output) / _MILLION


def bill(attempt: AttemptRecord, price: Price | None) -> float | None:
    """What a request has cost so far, in US dollars, whatever became of it; None when that is unknown.

    It is billed at the speed that was served; where the provider does not name that, at the one that was asked for. A
    request that the provider refused costs nothing.

    Args:
        attempt: the request.
        price: that of its tier; None when it is not known.
    """
    if attempt.tokens is None:
        return None
    if attempt.tokens.prompt == 0 and attempt.tokens.completion == 0:
        return 0.0
    at_speed = price.at(attempt.served or attempt.speed) if price else None
    return at_speed.usd(attempt.tokens) if at_speed else None
