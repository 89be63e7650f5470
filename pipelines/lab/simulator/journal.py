"""Records every request, above all whether and when the client cancelled it."""

import logging
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

Outcome = Literal["completed", "cancelled", "failed", "cut"]
Wire = Literal["chat", "responses", "messages"]

log = logging.getLogger(__name__)
_LATEST = 10_000

LEAST_CACHED = 1024
"""Tokens of the shortest prompt that OpenAI and Anthropic cache (for Anthropic's smallest models it is longer)."""


@dataclass(slots=True, kw_only=True)
class Exchange:
    """One request. Times are in seconds on the simulator's clock, or None if the event did not happen.

    Parameters:
        number: counts requests from 1.
        wire: the protocol.
        model: the model that served it, such as "sim:sonnet".
        fault: the model's fault at the time, or None.
        speed: the speed at which it is served, or None for the usual one.
        connection: number of its connection, from 1.
        opened: it was the first on its connection, so it waited for the connection to open.
        bytes_in: length of the request's body or WebSocket message.
        warm_up: it asked for no answer.
        input_tokens: tokens of the conversation.
        cached_tokens: how many of those were in the cache.
        requested: when it arrived.
        first_text: when the first text of the answer was sent.
        ended: when it ended.
        tokens_sent: tokens of the answer that were sent to the client.
        thought_tokens: tokens that the model thought before it answered.
        outcome: how it ended; None while it runs. "cancelled": by the client; "cut": the connection was reset.
    """

    number: int = 0
    wire: Wire
    model: str
    fault: str | None
    connection: int
    opened: bool
    bytes_in: int
    requested: float
    speed: str | None = None
    warm_up: bool = False
    input_tokens: int | None = None
    cached_tokens: int | None = None
    first_text: float | None = None
    ended: float | None = None
    tokens_sent: int = 0
    thought_tokens: int = 0
    outcome: Outcome | None = None

    @property
    def discounted_tokens(self) -> int:
        """How many of the cached tokens are billed as such; providers do so from `LEAST_CACHED` on."""
        cached = self.cached_tokens or 0
        return cached if cached >= LEAST_CACHED else 0


class Journal:
    """The latest requests, oldest first; the end of each request is logged."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._count = 0
        self.exchanges: deque[Exchange] = deque(maxlen=_LATEST)

    def add(self, exchange: Exchange) -> Exchange:
        """Record a request that has arrived, and number it."""
        self._count += 1
        exchange.number = self._count
        self.exchanges.append(exchange)
        return exchange

    def sent(self, exchange: Exchange, tokens: int) -> None:
        """Record text that was sent."""
        if exchange.first_text is None:
            exchange.first_text = self._clock()
        exchange.tokens_sent += tokens

    def end(self, exchange: Exchange, outcome: Outcome) -> None:
        """Record the end of a request; only the first call for a request counts."""
        if exchange.outcome is not None:
            return
        exchange.ended, exchange.outcome = self._clock(), outcome
        what = "cancelled by the client" if outcome == "cancelled" else outcome
        log.info(
            "request %d, %s over %s, connection %d: %s %.0f ms after the request, %d tokens sent%s",
            exchange.number,
            exchange.model,
            exchange.wire,
            exchange.connection,
            what,
            1000 * (exchange.ended - exchange.requested),
            exchange.tokens_sent,
            f" (fault {exchange.fault})" if exchange.fault else "",
        )

    def as_json(self) -> list[dict[str, Any]]:
        """The records as JSON values."""
        return [asdict(exchange) for exchange in self.exchanges]
