"""What a language model's tokens are billed at. Pure."""

from dataclasses import dataclass

from latency.record.llm.attempt import Tokens
from latency.record.units import Number

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars for a million tokens."""

    input: Number
    """Tokens of the request that were not cached."""
    output: Number
    """Tokens of the answer, thoughts included."""
    cached_input: Number | None = None
    """Tokens of the request that the provider had cached; None: no cheaper than others."""

    def usd(self, tokens: Tokens) -> float | None:
        """What a request costs, in US dollars; None when its tokens are unknown."""
        if tokens.prompt is None or tokens.completion is None:
            return None
        cached = min(tokens.cached or 0, tokens.prompt)
        cheap = self.input if self.cached_input is None else self.cached_input
        return ((tokens.prompt - cached) * self.input + cached * cheap + tokens.completion * self.output) / _MILLION
